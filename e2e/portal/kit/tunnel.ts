// A tunnel to a listener, like the one that operators use to reach the console. Its address is known before the listener has one.
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

interface Tunnel {
  /** The address for browsers. */
  origin: string;
  /** Leads new connections to this origin. */
  leadTo(origin: string): void;
  close(): Promise<void>;
}

export async function openTunnel(): Promise<Tunnel> {
  let port = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      // When one end closes or fails, the other one is closed.
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    leadTo(origin) {
      port = Number(new URL(origin).port);
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
