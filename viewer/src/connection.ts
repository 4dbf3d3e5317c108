// The stream: commands go out, messages come in; when the server goes away we try again until it is back.

import { kindOf, type CommandName, type Fields, type Message } from "./protocol.js";

export interface Listener {
  message(message: Message): void;
  binary(kind: number, data: ArrayBuffer): void;
  state(state: "connecting" | "live" | "lost"): void;
}

export class Connection {
  #socket: WebSocket | null = null;
  #wait = 250;
  bytes = 0; // received
  frames = 0;

  constructor(private readonly listener: Listener) { this.#open(); }

  send<N extends CommandName>(name: N, ...fields: {} extends Fields<N> ? [] : [Fields<N>]): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ do: name, ...fields[0] }));
  }

  #open(): void {
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
        this.listener.message(JSON.parse(event.data) as Message);
      } else {
        const data = event.data as ArrayBuffer;
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
