// Mouse, pen and fingers on the picture: bodies are pulled, pinned or thrown at; everything else moves the camera.

import type { Camera } from "./camera.js";
import type { Connection } from "./connection.js";
import { add, dot, scale, sub, type Vec3 } from "./math.js";

export type Tool = "grab" | "pin" | "throw" | "look";

export interface PointerState {
  tool(): Tool;
  mayTouch(): boolean; // whether this page holds the controls
  changed(): void;     // draw again
}

export class PointerControl {
  readonly #fingers = new Map<number, [number, number]>();
  #doing: "nothing" | "asking" | "holding" | "orbit" | "shift" = "nothing";
  #held: Vec3 | null = null; // where it was taken hold of
  #lastDrag = 0;
  #wanted: Vec3 | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly camera: Camera, private readonly connection: Connection,
    private readonly state: PointerState) {
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, (event) => this.#up(event));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(Math.exp(event.deltaY * 0.001));
      state.changed();
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get holding(): boolean { return this.#doing === "holding"; }

  /** The server's answer to a grab: where it took hold, or nothing there. */
  answered(point: Vec3 | null): void {
    if (this.#doing !== "asking") return;
    if (!point) {
      this.#doing = "orbit";
      return;
    }
    this.#doing = "holding";
    this.#held = point;
    if (this.#wanted) this.#drag(this.#wanted);
  }

  #ray(x: number, y: number): { origin: Vec3; direction: Vec3 } {
    const box = this.canvas.getBoundingClientRect();
    return this.camera.ray(2 * (x - box.left) / box.width - 1, 1 - 2 * (y - box.top) / box.height, box.width / box.height);
  }

  #down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.classList.add("by-pointer"); // who points needs no ring around it
    this.canvas.focus({ preventScroll: true });
    this.#fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.#fingers.size === 2) {
      this.#letGo();
      this.#doing = "shift";
      return;
    }
    const tool = this.state.tool();
    if (event.button === 2 || event.button === 1) this.#doing = "shift";
    else if (event.shiftKey || tool === "look" || !this.state.mayTouch()) this.#doing = "orbit";
    else if (tool === "grab") {
      this.#doing = "asking";
      this.#wanted = null;
      this.connection.send("grab", this.#ray(event.clientX, event.clientY));
    } else {
      this.connection.send(tool, this.#ray(event.clientX, event.clientY));
      this.#doing = "orbit";
    }
    this.canvas.classList.add("busy");
  }

  #move(event: PointerEvent): void {
    const before = this.#fingers.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before[0], dy = event.clientY - before[1];
    if (this.#fingers.size === 2) this.#pinch(event, dx, dy);
    this.#fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.#fingers.size > 1) return;
    const height = this.canvas.clientHeight;
    if (this.#doing === "orbit") this.camera.orbit(3.5 * dx / height, 3.5 * dy / height);
    else if (this.#doing === "shift") this.camera.shift(dx / height, dy / height);
    else if (this.#doing === "asking") this.#wanted = this.#ray(event.clientX, event.clientY).direction;
    else if (this.#doing === "holding") this.#drag(this.#ray(event.clientX, event.clientY).direction);
    this.state.changed();
  }

  /** Two fingers: their middle shifts, their distance zooms. */
  #pinch(event: PointerEvent, dx: number, dy: number): void {
    const [[, other]] = [...this.#fingers].filter(([id]) => id !== event.pointerId) as [[number, [number, number]]];
    const before = this.#fingers.get(event.pointerId)!;
    const gap = (x: number, y: number) => Math.hypot(x - other[0], y - other[1]);
    this.camera.zoom(gap(before[0], before[1]) / Math.max(gap(event.clientX, event.clientY), 1));
    this.camera.shift(dx / 2 / this.canvas.clientHeight, dy / 2 / this.canvas.clientHeight);
    this.state.changed();
  }

  /** In the plane of the screen through the point that is held. */
  #drag(direction: Vec3): void {
    if (!this.#held) return;
    const { forward } = this.camera.axes(), eye = this.camera.eye;
    const depth = dot(sub(this.#held, eye), forward);
    const target = add(eye, scale(direction, depth / Math.max(dot(direction, forward), 1e-3)));
    const now = performance.now();
    if (now - this.#lastDrag < 12) return;
    this.#lastDrag = now;
    this.connection.send("drag", { target });
  }

  #letGo(): void {
    if (this.#doing === "holding" || this.#doing === "asking") this.connection.send("release");
    this.#doing = "nothing";
    this.#held = null;
    this.canvas.classList.remove("busy");
  }

  #up(event: PointerEvent): void {
    if (!this.#fingers.delete(event.pointerId)) return;
    if (this.#doing === "holding") {
      this.#lastDrag = 0;
      this.#drag(this.#ray(event.clientX, event.clientY).direction);
    }
    if (this.#fingers.size === 0) this.#letGo();
    this.state.changed();
  }
}
