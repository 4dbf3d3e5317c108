// Pictures and videos of the canvas, and files that the server makes.
export function download(content, name) {
    const link = document.createElement("a");
    link.download = name;
    link.href = typeof content === "string" ? content : URL.createObjectURL(content);
    link.click();
    if (typeof content !== "string")
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
/** The picture that `draw` makes now. */
export function savePicture(canvas, draw, name) {
    draw(); // in the same task, or the browser may have thrown it away
    canvas.toBlob((blob) => { if (blob)
        download(blob, name); }, "image/png");
}
export class VideoRecorder {
    #recorder = null;
    get records() { return this.#recorder !== null; }
    /** Starts, or ends and saves. Throws where the browser cannot. */
    toggle(canvas, name) {
        if (this.#recorder) {
            this.#recorder.stop();
            this.#recorder = null;
            return;
        }
        const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((each) => MediaRecorder.isTypeSupported(each));
        if (!type)
            throw new Error("this browser cannot record WebM videos");
        const pieces = [], stream = canvas.captureStream(30);
        const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 8_000_000 });
        recorder.ondataavailable = (event) => pieces.push(event.data);
        recorder.onstop = () => {
            for (const track of stream.getTracks())
                track.stop();
            download(new Blob(pieces, { type: "video/webm" }), name);
        };
        recorder.start(500);
        this.#recorder = recorder;
    }
}
