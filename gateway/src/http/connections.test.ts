// Goal: an address has so many connections, and those that proved themselves are kept. Method: the rule on connections without a network, which
// close when the test says so; unauthenticated-callers.test.ts has the sockets.
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { boundConnections } from "./connections.ts";
import { LOAD_LIMITS, LoadShedding } from "./load-shedding.ts";

/** A server with a limit, and connections to it. */
function bounded(connectionsPerAddress: number) {
  const load = new LoadShedding(LOAD_LIMITS);
  const server = new EventEmitter();
  boundConnections(server as never, load, connectionsPerAddress);
  const connect = (remoteAddress = "192.0.2.1") => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      isCut: false,
      destroy: () => (socket.isCut = true),
    });
    server.emit("connection", socket);
    return socket;
  };
  const prove = (socket: ReturnType<typeof connect>) => {
    const request = { socket } as never;
    load.enter(request, socket.remoteAddress);
    load.prove(request);
  };
  return { load, connect, prove };
}

test("the oldest of an address is cut for one too many, and none of another address", () => {
  const { load, connect } = bounded(2);
  const all = [connect("198.51.100.1"), connect(), connect(), connect(), connect()];
  expect(all.map(({ isCut }) => isCut)).toEqual([false, true, true, false, false]);
  expect(load.cut).toBe(2);
});

test("one that has proved itself is not cut; where all have, the new one is", () => {
  const { load, connect, prove } = bounded(2);
  const [first, second] = [connect(), connect()];
  prove(first);
  const third = connect();
  prove(third);
  expect([first, second, third, connect()].map(({ isCut }) => isCut)).toEqual([false, true, false, true]);
  expect(load.cut).toBe(1);
});

test("whoever leaves makes room", () => {
  const { connect } = bounded(2);
  const [first, second] = [connect(), connect()];
  second.emit("close");
  connect();
  expect(first.isCut).toBe(false);
});

test("one that was cut and closes late takes no count from those that came after it", () => {
  const { connect } = bounded(1);
  const [cut, next] = [connect(), connect()];
  next.emit("close");
  const later = connect();
  cut.emit("close");
  connect();
  expect([cut, next, later].map(({ isCut }) => isCut)).toEqual([true, false, true]);
});
