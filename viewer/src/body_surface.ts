// A body on the graphics card: what was sent once stays there, and a frame is a few numbers that positions and normals
// are made from again.

import { ListTexture, Program, type GL } from "./gl.js";
import { add, cross, dot, normalized, poseMatrix, rotated, sub, type Mat4, type Vec3 } from "./math.js";
import { forms, type BodyFrame, type BodyModel } from "./protocol.js";
import * as shaders from "./shaders.js";

/** The programs that make positions and normals; one set for all bodies. */
export class SurfacePrograms {
  readonly bones: Program;
  readonly steps: Program;
  readonly normals: Program;
  constructor(gl: GL) {
    this.bones = new Program(gl, shaders.cover, shaders.bonePositions);
    this.steps = new Program(gl, shaders.cover, shaders.steppedPositions);
    this.normals = new Program(gl, shaders.cover, shaders.normals);
  }
}

/** Lists by vertex, one after the other: where each begins and how long it is, and how to fill them. */
function groupByVertex(vertexCount: number, owners: ArrayLike<number>): { ranges: Uint32Array; order: Uint32Array } {
  const ranges = new Uint32Array(2 * vertexCount), order = new Uint32Array(owners.length);
  for (let k = 0; k < owners.length; ++k) ++ranges[2 * owners[k]! + 1]!;
  for (let v = 1; v < vertexCount; ++v) ranges[2 * v] = ranges[2 * v - 2]! + ranges[2 * v - 1]!;
  const next = new Uint32Array(vertexCount);
  for (let k = 0; k < owners.length; ++k) {
    const v = owners[k]!;
    order[ranges[2 * v]! + next[v]!++] = k;
  }
  return { ranges, order };
}

function wide(x: Float32Array): Float32Array {
  const out = new Float32Array(x.length / 3 * 4);
  for (let v = 0; v < x.length / 3; ++v) out.set(x.subarray(3 * v, 3 * v + 3), 4 * v);
  return out;
}

const golden = 0.61803398875;
/** Colours that neighbours in a list can be told apart by. */
export function listColor(k: number): Vec3 {
  const hue = ((k * golden) % 1) * 6, x = 1 - Math.abs(hue % 2 - 1);
  const [r, g, b] = hue < 1 ? [1, x, 0] : hue < 2 ? [x, 1, 0] : hue < 3 ? [0, 1, x] : hue < 4 ? [0, x, 1] : hue < 5 ? [x, 0, 1] : [1, 0, x];
  return [0.25 + 0.6 * r!, 0.25 + 0.6 * g!, 0.25 + 0.6 * b!];
}

export class BodySurface {
  readonly #textures: ListTexture[] = [];
  readonly #targets: WebGLFramebuffer[] = [];
  readonly #buffers: WebGLBuffer[] = [];
  readonly #rests: ListTexture;
  readonly #rings: ListTexture;
  readonly #corners: ListTexture;
  readonly #positions: [ListTexture, ListTexture];
  readonly #normals: ListTexture;
  #now: 0 | 1 = 0;
  // of a body on bones
  #ranges!: ListTexture;
  #entries!: ListTexture;
  #links!: ListTexture;
  #basis!: ListTexture;
  #bones!: ListTexture;
  #weights!: ListTexture;
  #bonesData = new Float32Array(0);
  #weightsData = new Float32Array(0);
  #steps: ListTexture | null = null;
  readonly #sharp: Uint8Array;

  readonly triangles: WebGLVertexArrayObject;
  readonly edges: WebGLVertexArrayObject;
  readonly edgeCount: number;
  readonly colors: WebGLBuffer;
  readonly #field: WebGLBuffer;
  fieldTop = 0; // the value behind the largest share
  readonly ownColors: Uint8Array;
  readonly domainColors: Uint8Array | null;
  frame: Mat4 = poseMatrix([0, 0, 0, 1], [0, 0, 0]);
  frameBefore: Mat4 = this.frame;
  secondsBetween = 0;
  t = NaN;
  centre: Vec3 = [0, 0, 0]; // about where it is [m]
  radius = 0;
  readonly restRadius: number;
  readonly restCentre: Vec3;

  constructor(private readonly gl: GL, private readonly programs: SurfacePrograms, readonly model: BodyModel, number: number) {
    this.#rests = this.#list("RGBA32F", model.vertices);
    this.#rests.set(wide(model.rest));
    [this.restCentre, this.restRadius] = sphereAround(model.rest);
    const corners = this.#makeRings();
    this.#rings = corners.rings;
    this.#corners = corners.corners;
    this.#positions = [this.#list("RGBA32F", model.vertices), this.#list("RGBA32F", model.vertices)];
    this.#normals = this.#list("RGBA32F", model.vertices);
    for (const texture of [...this.#positions, this.#normals]) this.#targets.push(this.#targetOf(texture));
    if (model.form === forms.positions) this.#steps = this.#list("RGB16UI", model.vertices);
    else this.#makeBones();
    this.#sharp = this.#findSharp();
    this.ownColors = this.#makeOwnColors();
    this.domainColors = model.bones.length > 1 ? this.#makeDomainColors() : null;
    this.domain = listColor(number);
    [this.triangles, this.colors, this.#field] = this.#makeTriangles();
    [this.edges, this.edgeCount] = this.#makeEdges();
  }
  readonly domain: Vec3;

  get positions(): WebGLTexture { return this.#positions[this.#now].texture; }
  get before(): WebGLTexture { return this.#positions[this.#now === 0 ? 1 : 0].texture; }
  get normals(): WebGLTexture { return this.#normals.texture; }
  get rests(): WebGLTexture { return this.#rests.texture; }
  /** Number of its shapes. */
  get shapes(): number { return this.model.form === forms.bones ? this.model.bones.reduce((sum, bone) => sum + bone.rank, 0) : 0; }

  /** Makes positions and normals of this moment. `shape` replaces the weights by one shape alone. */
  update(now: BodyFrame, t: number, shape: { number: number; share: number } | null): void {
    const { gl } = this;
    const rigidAgain = this.model.form === forms.rigid && !Number.isNaN(this.t);
    this.secondsBetween = t - this.t;
    this.t = t;
    this.frameBefore = this.frame;
    this.frame = poseMatrix(now.pose.rotation, now.pose.translation);
    if (!rigidAgain) {
      this.#now = this.#now === 0 ? 1 : 0;
      gl.disable(gl.DEPTH_TEST);
      gl.disable(gl.BLEND);
      gl.bindVertexArray(null);
      if (this.#steps) this.#placeSteps(this.#steps, now);
      else this.#placeOnBones(now, shape);
      this.#draw(2, this.programs.normals.use().texture("rings", 0, this.#rings.texture).texture("corners", 1, this.#corners.texture)
        .texture("positions", 2, this.positions).texture("rests", 3, this.rests).integer("count", this.model.vertices));
    }
    this.#findSphere(now);
  }

  /** Numbers at its vertices to colour it by, as shares of the largest one; null: none. */
  setField(values: Uint8Array | null, top: number): void {
    const { gl } = this;
    this.fieldTop = values ? top : 0;
    if (!values) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#field);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STREAM_DRAW);
  }

  /** Reads the positions (x y z 1 of each vertex, in the body's frame) back: for tests. */
  read(what: "positions" | "normals"): Float32Array {
    const { gl } = this, rows = this.#normals.rows;
    const out = new Float32Array(4 * 1024 * rows);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#targets[what === "normals" ? 2 : this.#now]!);
    gl.readPixels(0, 0, 1024, rows, gl.RGBA, gl.FLOAT, out);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return out.subarray(0, 4 * this.model.vertices);
  }

  free(): void {
    for (const texture of this.#textures) texture.free();
    for (const target of this.#targets) this.gl.deleteFramebuffer(target);
    for (const buffer of this.#buffers) this.gl.deleteBuffer(buffer);
    this.gl.deleteVertexArray(this.triangles);
    this.gl.deleteVertexArray(this.edges);
  }

  #draw(target: number, _program: Program): void {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#targets[target]!);
    gl.viewport(0, 0, 1024, this.#normals.rows);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  #placeSteps(steps: ListTexture, now: BodyFrame): void {
    steps.set(now.steps!);
    this.#draw(this.#now, this.programs.steps.use().texture("steps", 0, steps.texture).vector("low", now.low).vector("size", now.size));
  }

  #placeOnBones(now: BodyFrame, shape: { number: number; share: number } | null): void {
    let first = 0;
    this.model.bones.forEach((bone, b) => {
      const at = now.bones[b];
      const pose = at?.pose ?? { rotation: [0, 0, 0, 1], translation: [0, 0, 0] };
      this.#bonesData.set([...pose.rotation, ...pose.translation, 0, bone.rank, first, 0, 0], 16 * b);
      for (let k = 0; k < bone.rank; ++k) {
        const alone = shape && first + k === shape.number ? shape.share * this.restRadius / 32767 : 0;
        this.#weightsData[first + k] = shape ? alone : at!.q[k]! * bone.scales[k]!;
      }
      first += bone.rank;
    });
    this.#bones.set(this.#bonesData);
    this.#weights.set(this.#weightsData);
    this.#draw(this.#now, this.programs.bones.use().texture("ranges", 0, this.#ranges.texture).texture("entries", 1, this.#entries.texture)
      .texture("links", 2, this.#links.texture).texture("basis", 3, this.#basis.texture).texture("bones", 4, this.#bones.texture)
      .texture("weights", 5, this.#weights.texture).integer("count", this.model.vertices));
  }

  #findSphere(now: BodyFrame): void {
    let centre = this.restCentre;
    this.radius = this.restRadius;
    if (now.steps) {
      centre = [now.low[0] + now.size[0] / 2, now.low[1] + now.size[1] / 2, now.low[2] + now.size[2] / 2];
      this.radius = 0.5 * Math.hypot(...now.size);
    }
    const bone = now.bones.find((each) => each.pose)?.pose;
    if (bone) centre = bone.translation;
    this.centre = add(rotated(now.pose.rotation, centre), now.pose.translation);
  }

  #list(layout: ConstructorParameters<typeof ListTexture>[1], count: number, width = 1024): ListTexture {
    const texture = new ListTexture(this.gl, layout, count, width);
    this.#textures.push(texture);
    return texture;
  }

  #targetOf(texture: ListTexture): WebGLFramebuffer {
    const { gl } = this, target = gl.createFramebuffer()!;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return target;
  }

  #makeRings(): { rings: ListTexture; corners: ListTexture } {
    const { triangles, vertices } = this.model;
    const { ranges, order } = groupByVertex(vertices, triangles);
    const others = new Uint32Array(2 * triangles.length);
    order.forEach((corner, k) => {
      const first = corner - corner % 3;
      others[2 * k] = triangles[first + (corner + 1) % 3]!;
      others[2 * k + 1] = triangles[first + (corner + 2) % 3]!;
    });
    const rings = this.#list("RG32UI", vertices), corners = this.#list("RG32UI", triangles.length);
    rings.set(ranges);
    corners.set(others);
    return { rings, corners };
  }

  #makeBones(): void {
    const { bones, vertices } = this.model;
    const count = bones.reduce((sum, bone) => sum + bone.rest.length / 3, 0);
    const texels = bones.reduce((sum, bone) => sum + bone.basis.length / 3, 0);
    const ranks = bones.reduce((sum, bone) => sum + bone.rank, 0);
    const owners = new Uint32Array(count), rest = new Float32Array(4 * count), link = new Uint32Array(2 * count);
    const basis = new Int16Array(3 * Math.max(texels, 1));
    let e = 0, texel = 0;
    bones.forEach((bone, b) => {
      basis.set(bone.basis, 3 * texel);
      for (let i = 0; i < bone.rest.length / 3; ++i, ++e) {
        owners[e] = bone.vertices ? bone.vertices[i]! : i;
        rest.set([bone.rest[3 * i]!, bone.rest[3 * i + 1]!, bone.rest[3 * i + 2]!, bone.weights ? bone.weights[i]! : 1], 4 * e);
        link.set([b, texel], 2 * e);
        texel += bone.rank;
      }
    });
    const { ranges, order } = groupByVertex(vertices, owners);
    const sortedRest = new Float32Array(rest.length), sortedLink = new Uint32Array(link.length);
    order.forEach((from, to) => {
      sortedRest.set(rest.subarray(4 * from, 4 * from + 4), 4 * to);
      sortedLink.set(link.subarray(2 * from, 2 * from + 2), 2 * to);
    });
    this.#ranges = this.#list("RG32UI", vertices);
    this.#ranges.set(ranges);
    this.#entries = this.#list("RGBA32F", count);
    this.#entries.set(sortedRest);
    this.#links = this.#list("RG32UI", count);
    this.#links.set(sortedLink);
    this.#basis = this.#list("RGB16I", Math.max(texels, 1), 2048);
    this.#basis.set(basis);
    this.#bones = this.#list("RGBA32F", 4 * bones.length, 4);
    this.#weights = this.#list("R32F", Math.max(ranks, 1));
    this.#bonesData = new Float32Array(16 * bones.length);
    this.#weightsData = new Float32Array(ranks);
  }

  /** Four bytes per vertex; the last one says whether it is on a sharp edge. */
  #makeOwnColors(): Uint8Array {
    const one = this.model.color.map((c) => Math.round(255 * c)), out = new Uint8Array(4 * this.model.vertices);
    for (let v = 0; v < this.model.vertices; ++v) {
      out.set(this.model.colors ? this.model.colors.subarray(3 * v, 3 * v + 3) : one, 4 * v);
      out[4 * v + 3] = this.#sharp[v]!;
    }
    return out;
  }

  /** 255 for the vertices whose triangles at rest turn by more than 40 degrees from their mean. */
  #findSharp(): Uint8Array {
    const { triangles: T, vertices, rest } = this.model, normals: Vec3[] = [];
    const sums = new Float32Array(3 * vertices), out = new Uint8Array(vertices);
    const at = (v: number): Vec3 => [rest[3 * v]!, rest[3 * v + 1]!, rest[3 * v + 2]!];
    for (let f = 0; f < T.length; f += 3) {
      const a = at(T[f]!), n = cross(sub(at(T[f + 1]!), a), sub(at(T[f + 2]!), a));
      normals.push(normalized(n));
      for (let c = 0; c < 3; ++c) n.forEach((x, k) => { sums[3 * T[f + c]! + k]! += x; });
    }
    for (let k = 0; k < T.length; ++k) {
      const v = T[k]!, mean = normalized([sums[3 * v]!, sums[3 * v + 1]!, sums[3 * v + 2]!]);
      if (dot(mean, normals[(k - k % 3) / 3]!) < 0.77) out[v] = 255;
    }
    return out;
  }

  /** Each vertex in the colour of the bone that it follows most. */
  #makeDomainColors(): Uint8Array {
    const out = new Uint8Array(4 * this.model.vertices), most = new Float32Array(this.model.vertices);
    for (let v = 0; v < this.model.vertices; ++v) out[4 * v + 3] = this.#sharp[v]!;
    this.model.bones.forEach((bone, b) => {
      const color = listColor(b).map((c) => Math.round(255 * c));
      bone.vertices!.forEach((v, i) => {
        if (bone.weights![i]! <= most[v]!) return;
        most[v] = bone.weights![i]!;
        out.set(color, 4 * v);
      });
    });
    return out;
  }

  #buffer(target: number, data: ArrayBufferView): WebGLBuffer {
    const { gl } = this, buffer = gl.createBuffer()!;
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, data, gl.STATIC_DRAW);
    this.#buffers.push(buffer);
    return buffer;
  }

  #makeTriangles(): [WebGLVertexArrayObject, WebGLBuffer, WebGLBuffer] {
    const { gl } = this, array = gl.createVertexArray()!;
    gl.bindVertexArray(array);
    const colors = this.#buffer(gl.ARRAY_BUFFER, this.ownColors);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    const field = this.#buffer(gl.ARRAY_BUFFER, new Uint8Array(this.model.vertices));
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_BYTE, true, 0, 0);
    this.#buffer(gl.ELEMENT_ARRAY_BUFFER, this.model.triangles);
    gl.bindVertexArray(null);
    return [array, colors, field];
  }

  #makeEdges(): [WebGLVertexArrayObject, number] {
    const { gl } = this, array = gl.createVertexArray()!, T = this.model.triangles;
    const ends: number[] = [];
    for (let f = 0; f < T.length; f += 3)
      for (let c = 0; c < 3; ++c) {
        const a = T[f + c]!, b = T[f + (c + 1) % 3]!;
        if (a < b) ends.push(a, b); // of a closed surface the other triangle has it the other way round
      }
    gl.bindVertexArray(array);
    this.#buffer(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(ends));
    gl.bindVertexArray(null);
    return [array, ends.length];
  }
}

function sphereAround(x: Float32Array): [Vec3, number] {
  const low: Vec3 = [Infinity, Infinity, Infinity], high: Vec3 = [-Infinity, -Infinity, -Infinity];
  x.forEach((value, k) => {
    low[k % 3] = Math.min(low[k % 3]!, value);
    high[k % 3] = Math.max(high[k % 3]!, value);
  });
  if (x.length === 0) return [[0, 0, 0], 0];
  return [[(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2],
    0.5 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2])];
}
