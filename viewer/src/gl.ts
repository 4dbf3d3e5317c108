// The few things of WebGL 2 that everything else needs.

export type GL = WebGL2RenderingContext;

export class GlError extends Error {}

export function makeContext(canvas: HTMLCanvasElement): GL {
  const gl = canvas.getContext("webgl2", { antialias: true, powerPreference: "high-performance" });
  if (!gl) throw new GlError("this browser shows no WebGL 2; switch on hardware acceleration, or use another browser");
  if (!gl.getExtension("EXT_color_buffer_float"))
    throw new GlError("this browser's WebGL cannot draw into float textures (EXT_color_buffer_float)");
  return gl;
}

export class Program {
  readonly #places = new Map<string, WebGLUniformLocation | null>();
  readonly program: WebGLProgram;

  constructor(private readonly gl: GL, vertex: string, fragment: string) {
    this.program = gl.createProgram()!;
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\n" +
        "precision highp isampler2D;\nprecision highp usampler2D;\nprecision highp sampler2DShadow;\n" + source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new GlError(gl.getShaderInfoLog(shader) ?? "shader");
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new GlError(gl.getProgramInfoLog(this.program) ?? "link");
  }

  use(): this { this.gl.useProgram(this.program); return this; }
  at(name: string): WebGLUniformLocation | null {
    if (!this.#places.has(name)) this.#places.set(name, this.gl.getUniformLocation(this.program, name));
    return this.#places.get(name)!;
  }
  number(name: string, x: number): this { this.gl.uniform1f(this.at(name), x); return this; }
  integer(name: string, x: number): this { this.gl.uniform1i(this.at(name), x); return this; }
  vector(name: string, x: readonly number[]): this {
    if (x.length === 2) this.gl.uniform2fv(this.at(name), x);
    else if (x.length === 3) this.gl.uniform3fv(this.at(name), x);
    else this.gl.uniform4fv(this.at(name), x);
    return this;
  }
  matrix(name: string, m: Float32Array): this { this.gl.uniformMatrix4fv(this.at(name), false, m); return this; }
  texture(name: string, unit: number, texture: WebGLTexture, target: number = this.gl.TEXTURE_2D): this {
    this.gl.activeTexture(this.gl.TEXTURE0 + unit);
    this.gl.bindTexture(target, texture);
    this.gl.uniform1i(this.at(name), unit);
    return this;
  }
}

type Numbers = Float32Array | Uint32Array | Int16Array | Uint16Array;
const layouts = {
  RGBA32F: ["RGBA", "FLOAT", 4], R32F: ["RED", "FLOAT", 1], RG32UI: ["RG_INTEGER", "UNSIGNED_INT", 2],
  RGB16I: ["RGB_INTEGER", "SHORT", 3], RGB16UI: ["RGB_INTEGER", "UNSIGNED_SHORT", 3],
} as const;

/** A texture that is a long list of texels, `width` in a row. */
export class ListTexture {
  readonly texture: WebGLTexture;
  readonly rows: number;

  constructor(private readonly gl: GL, private readonly layout: keyof typeof layouts, readonly count: number, readonly width = 1024) {
    this.rows = Math.max(1, Math.ceil(count / width));
    if (this.rows > gl.getParameter(gl.MAX_TEXTURE_SIZE)) throw new GlError("a body is too large for this graphics card");
    this.texture = gl.createTexture()!;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl[layout], width, this.rows);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  }

  /** Whole rows first, then what is left of the last one. */
  set(values: Numbers): void {
    const gl = this.gl, [format, type, parts] = layouts[this.layout];
    const count = values.length / parts, rows = Math.floor(count / this.width), rest = count - rows * this.width;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    if (rows > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, this.width, rows, gl[format], gl[type], values, 0);
    if (rest > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, rows, rest, 1, gl[format], gl[type], values, rows * this.width * parts);
  }

  free(): void { this.gl.deleteTexture(this.texture); }
}
