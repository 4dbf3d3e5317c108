// The stream: commands go out, messages come in; when the server goes away we try again until it is back.
import { kindOf } from "./protocol.js";
export class Connection {
    listener;
    #socket = null;
    #wait = 250;
    bytes = 0; // received
    frames = 0;
    constructor(listener) {
        this.listener = listener;
        this.#open();
    }
    send(name, ...fields) {
        if (this.#socket?.readyState === WebSocket.OPEN)
            this.#socket.send(JSON.stringify({ do: name, ...fields[0] }));
    }
    #open() {
        const address = new URL("stream", location.href.replace(/^http/, "ws"));
        address.search = "";
        const socket = new WebSocket(address);
        socket.binaryType = "arraybuffer";
        this.#socket = socket;
        this.listener.state("connecting");
        socket.onopen = () => {
            this.#wait = 250;
            this.listener.state("live");
        };
        socket.onmessage = (event) => {
            if (typeof event.data === "string") {
                this.bytes += event.data.length;
                this.listener.message(JSON.parse(event.data));
            }
            else {
                const data = event.data;
                this.bytes += data.byteLength;
                this.listener.binary(kindOf(data), data);
            }
        };
        socket.onclose = () => {
            this.listener.state("lost");
            setTimeout(() => this.#open(), this.#wait);
            this.#wait = Math.min(2 * this.#wait, 3000);
        };
    }
}
