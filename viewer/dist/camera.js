// A camera that looks at a point from a distance.
import { add, cross, lookAt, multiply, normalized, perspective, scale, sub } from "./math.js";
export class Camera {
    target = [0, 0, 0];
    distance = 3;
    turn = 0.6; // about the vertical [rad]
    tilt = 0.32; // above the horizon [rad]
    fov = 0.7;
    get eye() {
        const c = Math.cos(this.tilt);
        return add(this.target, scale([Math.sin(this.turn) * c, Math.sin(this.tilt), Math.cos(this.turn) * c], this.distance));
    }
    /** Everything of that size in sight, in a picture of that width over height. */
    frame(centre, size, aspect) {
        this.target = [...centre];
        this.distance = 0.5 * size / Math.sin(this.fov / 2) / Math.min(1, aspect);
        this.turn = 0.6;
        this.tilt = 0.32;
    }
    orbit(dx, dy) {
        this.turn -= dx;
        this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + dy));
    }
    zoom(factor) { this.distance = Math.max(1e-3, Math.min(1e5, this.distance * factor)); }
    /** By shares of the height of the picture. */
    shift(dx, dy) {
        const { right, up } = this.axes();
        const reach = 2 * this.distance * Math.tan(this.fov / 2);
        this.target = add(this.target, add(scale(right, -dx * reach), scale(up, dy * reach)));
    }
    axes() {
        const forward = normalized(sub(this.target, this.eye));
        const right = normalized(cross(forward, [0, 1, 0]));
        return { right, up: cross(right, forward), forward };
    }
    matrix(aspect) {
        return multiply(perspective(this.fov, aspect, this.distance * 0.01, this.distance * 100), lookAt(this.eye, this.target, [0, 1, 0]));
    }
    /** Through a point of the picture, x and y in [-1, 1]. */
    ray(x, y, aspect) {
        const { right, up, forward } = this.axes();
        const half = Math.tan(this.fov / 2);
        return { origin: this.eye, direction: normalized(add(forward, add(scale(right, x * half * aspect), scale(up, y * half)))) };
    }
}
