// Draws the bodies of a scene with a sun, a soft shadow and a sky; overlays, wireframe and cuts on top.
import { BodySurface, SurfacePrograms } from "./body_surface.js";
import { makeContext, Program } from "./gl.js";
import { add, length, lookAt, multiply, normalized, orthographic, scale, sub } from "./math.js";
import { forms } from "./protocol.js";
import * as shaders from "./shaders.js";
export const colorings = ["own", "displacement", "velocity", "strain", "domain", "contact"];
export const fieldOf = (coloring) => coloring.startsWith("field:") ? coloring.slice(6) : "";
const shadowSize = 2048;
const toLight = normalized([0.45, 1.0, 0.35]);
const overlayTints = [[1, 0.45, 0.3, 1], [0.4, 0.75, 1, 1], [0.55, 0.9, 0.5, 1], [0.95, 0.8, 0.3, 1], [0.85, 0.55, 1, 1]];
/** Instances of thick lines, and points, filled anew for each picture. */
class Marks {
    gl;
    lines = []; // from, to, tint: 10 numbers each
    points = []; // point, unused, tint: the same stride
    #buffer;
    #lineArray;
    #pointArray;
    #lineProgram;
    #pointProgram;
    constructor(gl) {
        this.gl = gl;
        this.#lineProgram = new Program(gl, shaders.lineVertex, shaders.lineFragment);
        this.#pointProgram = new Program(gl, shaders.pointVertex, shaders.pointFragment);
        this.#buffer = gl.createBuffer();
        this.#lineArray = this.#array(1);
        this.#pointArray = this.#array(0);
    }
    #array(divisor) {
        const { gl } = this, array = gl.createVertexArray();
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
        for (const [place, size, offset] of [[0, 3, 0], [1, 3, 12], [2, 4, 24]]) {
            gl.enableVertexAttribArray(place);
            gl.vertexAttribPointer(place, size, gl.FLOAT, false, 40, offset);
            gl.vertexAttribDivisor(place, divisor);
        }
        gl.bindVertexArray(null);
        return array;
    }
    line(a, b, tint) { this.lines.push(...a, ...b, ...tint); }
    point(a, tint) { this.points.push(...a, 0, 0, 0, ...tint); }
    arrow(a, b, eye, tint) {
        this.line(a, b, tint);
        const way = sub(b, a), size = length(way);
        if (size <= 0)
            return;
        const side = normalized([way[1] * (eye[2] - b[2]) - way[2] * (eye[1] - b[1]), way[2] * (eye[0] - b[0]) - way[0] * (eye[2] - b[2]),
            way[0] * (eye[1] - b[1]) - way[1] * (eye[0] - b[0])]);
        for (const s of [-1, 1])
            this.line(b, add(add(b, scale(way, -0.22)), scale(side, 0.11 * s * size)), tint);
    }
    draw(camera, width, height) {
        const { gl } = this;
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        gl.disable(gl.DEPTH_TEST);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
        if (this.lines.length > 0) {
            gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(this.lines), gl.STREAM_DRAW);
            gl.bindVertexArray(this.#lineArray);
            this.#lineProgram.use().matrix("camera", camera).vector("pixel", [2 / width, 2 / height]).number("width", 1.25 * devicePixelRatio);
            gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.lines.length / 10);
        }
        if (this.points.length > 0) {
            gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(this.points), gl.STREAM_DRAW);
            gl.bindVertexArray(this.#pointArray);
            this.#pointProgram.use().matrix("camera", camera).number("width", 6 * devicePixelRatio);
            gl.drawArrays(gl.POINTS, 0, this.points.length / 10);
        }
        gl.bindVertexArray(null);
        gl.disable(gl.BLEND);
        this.lines = [];
        this.points = [];
    }
}
export class Renderer {
    canvas;
    gl;
    #programs;
    #drawProgram;
    #groundProgram;
    #shadowProgram;
    #wireProgram;
    #cutProgram;
    #marks;
    #shadowTexture;
    #shadowTarget;
    #cutBuffer;
    #cutArray;
    #cutCount = 0;
    #bodies = new Map();
    order = [];
    frame = null;
    overlays = null;
    size = 1;
    centre = [0, 0, 0];
    fps = 60;
    #contacts = new Float32Array(4 * 48);
    #contactCount = 0;
    #fieldTop = 0; // the largest of late
    constructor(canvas) {
        this.canvas = canvas;
        const gl = this.gl = makeContext(canvas);
        this.#programs = new SurfacePrograms(gl);
        this.#drawProgram = new Program(gl, shaders.drawVertex, shaders.drawFragment);
        this.#groundProgram = new Program(gl, shaders.drawVertex, shaders.groundFragment);
        this.#shadowProgram = new Program(gl, shaders.shadowVertex, shaders.shadowFragment);
        this.#wireProgram = new Program(gl, shaders.wireVertex, shaders.wireFragment);
        this.#cutProgram = new Program(gl, shaders.cutVertex, shaders.cutFragment);
        this.#marks = new Marks(gl);
        [this.#shadowTexture, this.#shadowTarget] = this.#makeShadow();
        this.#cutBuffer = gl.createBuffer();
        this.#cutArray = gl.createVertexArray();
        gl.bindVertexArray(this.#cutArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.#cutBuffer);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
        gl.bindVertexArray(null);
    }
    addBody(model) {
        this.#bodies.get(model.key)?.free();
        this.#bodies.set(model.key, new BodySurface(this.gl, this.#programs, model, this.#bodies.size));
    }
    /** The bodies of the scene in the order of its frames; others are forgotten. */
    setScene(keys) {
        for (const [key, body] of this.#bodies)
            if (!keys.includes(key)) {
                body.free();
                this.#bodies.delete(key);
            }
        this.order = keys.map((key) => this.#bodies.get(key));
        this.frame = null;
        this.setOverlays(null);
    }
    setFrame(frame, look, seconds) {
        this.frame = frame;
        this.order.forEach((body, k) => {
            const shown = look.shape && look.shape.body === k ? { number: look.shape.number, share: 0.25 * Math.sin(4 * seconds) } : null;
            body.update(frame.bodies[k], frame.t, shown);
        });
    }
    setOverlays(overlays) {
        this.overlays = overlays;
        this.#cutCount = overlays?.cut ? overlays.cut.length / 3 : 0;
        if (overlays?.cut) {
            this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.#cutBuffer);
            this.gl.bufferData(this.gl.ARRAY_BUFFER, overlays.cut, this.gl.STREAM_DRAW);
        }
        const fields = new Map(overlays?.fields.map((field) => [field.body, field]));
        this.order.forEach((body, k) => body.setField(fields.get(k)?.values ?? null, fields.get(k)?.top ?? 0));
        this.#fieldTop = Math.max(0.98 * this.#fieldTop, ...[...fields.values()].map((field) => field.top));
        const contacts = overlays?.overlays.filter((each) => each.vectors && !each.lengths) ?? [];
        this.#contactCount = 0;
        for (const { points, vectors } of contacts) {
            let largest = 1e-12;
            for (let k = 0; k < vectors.length; k += 3)
                largest = Math.max(largest, Math.hypot(vectors[k], vectors[k + 1], vectors[k + 2]));
            for (let k = 0; k < points.length && this.#contactCount < 48; k += 3) {
                const share = Math.hypot(vectors[k], vectors[k + 1], vectors[k + 2]) / largest;
                this.#contacts.set([points[k], points[k + 1], points[k + 2], 0.25 + 0.75 * share], 4 * this.#contactCount++);
            }
        }
    }
    colorsChanged(look) {
        const { gl } = this;
        for (const body of this.order) {
            gl.bindBuffer(gl.ARRAY_BUFFER, body.colors);
            gl.bufferData(gl.ARRAY_BUFFER, look.coloring === "domain" && body.domainColors ? body.domainColors : body.ownColors, gl.STATIC_DRAW);
        }
    }
    /** Another field begins with a scale of its own. */
    forgetField() { this.#fieldTop = 0; }
    /** What the whole ramp of colours stands for. */
    range(coloring, units = {}) {
        if (fieldOf(coloring))
            return { top: niceTop(this.#fieldTop), unit: units[fieldOf(coloring)] ?? "" };
        if (coloring === "displacement")
            return { top: 0.15 * this.size, unit: "m" };
        if (coloring === "velocity")
            return { top: 1.5 * Math.sqrt(9.81 * this.size), unit: "m/s" };
        if (coloring === "strain")
            return { top: 0.4, unit: "" };
        return { top: 1, unit: "" };
    }
    draw(camera, look) {
        const { gl, canvas } = this;
        const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio)), height = Math.max(1, Math.round(canvas.clientHeight * devicePixelRatio));
        if (canvas.width !== width || canvas.height !== height)
            [canvas.width, canvas.height] = [width, height];
        const view = camera.matrix(width / height);
        const light = this.#lightMatrix();
        if (look.shadows)
            this.#drawShadow(light, look);
        const backdrop = look.light ? [0.91, 0.93, 0.955] : [0.075, 0.09, 0.118];
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, width, height);
        gl.clearColor(...backdrop, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        if (!this.frame)
            return;
        gl.enable(gl.DEPTH_TEST);
        const eye = camera.eye;
        for (const body of this.#shown(look)) {
            const ground = body.model.backdrop;
            const program = (ground ? this.#groundProgram : this.#drawProgram).use();
            this.#setLight(program, light, eye, look);
            this.#setBody(program, body, view, look);
            if (ground)
                program.vector("ground", look.light ? [0.86, 0.88, 0.9] : [0.3, 0.33, 0.38]).vector("backdrop", backdrop)
                    .vector("centre", this.centre).number("cell", niceCell(this.size)).number("reach", 3.5 * this.size);
            gl.bindVertexArray(body.triangles);
            gl.drawElements(gl.TRIANGLES, body.model.triangles.length, gl.UNSIGNED_INT, 0);
        }
        if (this.#cuts(look)) {
            this.#setLight(this.#cutProgram.use().matrix("camera", view), light, eye, look);
            gl.bindVertexArray(this.#cutArray);
            gl.drawArrays(gl.TRIANGLES, 0, this.#cutCount);
        }
        if (look.wireframe)
            this.#drawWires(view, look);
        gl.bindVertexArray(null);
        this.#drawMarks(view, eye, look, width, height);
    }
    #shown(look) {
        return this.order.filter((body) => body.model.backdrop ? look.ground : look.obstacles || !body.model.led);
    }
    #cuts(look) { return look.cut !== null && this.#cutCount > 0 && !look.past; }
    /** The number of the colouring in the shader; a body that has no such thing keeps its own colours. */
    #coloringOf(body, look) {
        if (fieldOf(look.coloring))
            return body.fieldTop > 0 && !look.past ? colorings.length : 0;
        if (look.coloring === "contact" && look.past)
            return 0;
        const moves = body.model.form !== forms.rigid || !["displacement", "strain"].includes(look.coloring);
        return moves ? colorings.findIndex((each) => each === look.coloring) : 0;
    }
    #setBody(program, body, view, look) {
        const clipped = this.#cuts(look) && body.model.form !== forms.rigid;
        program.texture("positions", 0, body.positions).texture("before", 1, body.model.form === forms.rigid ? body.positions : body.before)
            .texture("normalsOf", 2, body.normals).texture("rests", 3, body.rests)
            .matrix("frame", body.frame).matrix("frameBefore", body.frameBefore).matrix("camera", view)
            .number("spread", body.model.backdrop ? 6 : 1).integer("colorBy", this.#coloringOf(body, look)).number("range", this.range(look.coloring).top).number("fieldTop", body.fieldTop)
            .number("perSecond", body.secondsBetween > 0 ? 1 / body.secondsBetween : 0)
            .integer("cutAxis", clipped ? look.cut.axis : -1).number("cutOffset", look.cut?.offset ?? 0)
            .vector("domain", body.domainColors ? [-1, 0, 0] : body.domain)
            .integer("contactCount", look.coloring === "contact" ? this.#contactCount : 0).number("contactRadius", 0.05 * this.size);
        this.gl.uniform4fv(program.at("contacts"), this.#contacts);
    }
    #setLight(program, light, eye, look) {
        program.vector("eye", eye).vector("toLight", toLight).matrix("light", light).number("shadowTexel", 1 / shadowSize)
            .number("shadowStrength", look.shadows ? 0.85 : 0)
            .vector("sky", look.light ? [0.95, 1.0, 1.08] : [0.5, 0.58, 0.72]).vector("earth", look.light ? [0.62, 0.58, 0.54] : [0.2, 0.18, 0.17])
            .texture("shadow", 6, this.#shadowTexture);
    }
    /** Sees all that casts a shadow, from the sun. */
    #lightMatrix() {
        let radius = this.size * 0.6;
        for (const body of this.order)
            if (!body.model.backdrop)
                radius = Math.max(radius, Math.min(length(sub(body.centre, this.centre)) + body.radius, 4 * this.size));
        const from = add(this.centre, scale(toLight, 3 * radius));
        return multiply(orthographic(radius, radius, 0.1 * radius, 8 * radius), lookAt(from, this.centre, [0, 0, 1]));
    }
    #makeShadow() {
        const { gl } = this, texture = gl.createTexture(), target = gl.createFramebuffer();
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, shadowSize, shadowSize);
        for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
            gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
        for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
            gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
        gl.bindFramebuffer(gl.FRAMEBUFFER, target);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
        gl.drawBuffers([gl.NONE]);
        gl.readBuffer(gl.NONE);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        return [texture, target];
    }
    #drawShadow(light, look) {
        const { gl } = this;
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.#shadowTarget);
        gl.viewport(0, 0, shadowSize, shadowSize);
        gl.enable(gl.DEPTH_TEST);
        gl.clear(gl.DEPTH_BUFFER_BIT);
        for (const body of this.#shown(look)) {
            if (body.model.backdrop)
                continue;
            this.#shadowProgram.use().texture("positions", 0, body.positions).matrix("frame", body.frame).matrix("camera", light);
            gl.bindVertexArray(body.triangles);
            gl.drawElements(gl.TRIANGLES, body.model.triangles.length, gl.UNSIGNED_INT, 0);
        }
        gl.bindVertexArray(null);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }
    #drawWires(view, look) {
        const { gl } = this;
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        for (const body of this.#shown(look)) {
            if (body.model.backdrop)
                continue;
            const clipped = this.#cuts(look) && body.model.form !== forms.rigid;
            this.#wireProgram.use().texture("positions", 0, body.positions).matrix("frame", body.frame).matrix("camera", view)
                .vector("ink", [0.03, 0.04, 0.06, 0.4]).integer("cutAxis", clipped ? look.cut.axis : -1).number("cutOffset", look.cut?.offset ?? 0);
            gl.bindVertexArray(body.edges);
            gl.drawElements(gl.LINES, body.edgeCount, gl.UNSIGNED_INT, 0);
        }
        gl.disable(gl.BLEND);
    }
    #drawMarks(view, eye, look, width, height) {
        const marks = this.#marks;
        for (const hold of this.frame.holds) {
            marks.line(hold.point, hold.target, [1, 0.85, 0.3, 1]);
            marks.point(hold.point, [1, 0.5, 0.2, 1]);
            marks.point(hold.target, [1, 0.95, 0.6, 1]);
        }
        const names = [...new Set(this.overlays?.overlays.map((overlay) => overlay.name))]; // bodies may share one
        if (look.showOverlays && !look.past)
            this.overlays?.overlays.forEach((overlay) => {
                if (look.hiddenOverlays.has(overlay.name))
                    return;
                const tint = overlayTints[names.indexOf(overlay.name) % overlayTints.length];
                const { points, vectors } = overlay, large = vectors && !overlay.lengths ? largeForce(vectors) : 1;
                for (let k = 0; k < points.length; k += 3) {
                    const at = [points[k], points[k + 1], points[k + 2]];
                    marks.point(at, tint);
                    if (!vectors)
                        continue;
                    const way = [vectors[k], vectors[k + 1], vectors[k + 2]];
                    if (overlay.lengths)
                        marks.line(at, add(at, way), tint);
                    else if (length(way) > 1e-3 * large)
                        marks.arrow(at, add(at, scale(way, 0.1 * this.size * Math.min(1 / large, 2.5 / length(way)))), eye, tint);
                }
            });
        marks.draw(view, width, height);
    }
}
/** That nine of ten do not reach: a single blow does not make all others too small to see. */
function largeForce(vectors) {
    const sizes = [];
    for (let k = 0; k < vectors.length; k += 3)
        sizes.push(Math.hypot(vectors[k], vectors[k + 1], vectors[k + 2]));
    sizes.sort((a, b) => a - b);
    return Math.max(1e-30, sizes[Math.floor(0.9 * sizes.length)] ?? 0);
}
/** 1, 2 or 5 times a power of ten: about a tenth of the size. */
function niceCell(size) {
    const power = 10 ** Math.floor(Math.log10(0.1 * size)), share = 0.1 * size / power;
    return power * (share < 2 ? 1 : share < 5 ? 2 : 5);
}
/** The next of 1, 2 and 5 times a power of ten. */
function niceTop(value) {
    if (!(value > 0))
        return 1;
    const power = 10 ** Math.floor(Math.log10(value)), share = value / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}
