// Goal: who holds capacity, who gives way when there is none, and that all of it comes back. Method: the rules on requests without a network;
// load-shedding.test.ts has the sockets.
import { describe, expect, test } from "vitest";
import { LoadShedding, hasProved } from "./load-shedding.ts";

const [here, there] = ["192.0.2.1", "198.51.100.1"];

/** Rules for few requests of few bytes; all that a test does not limit has room enough. */
function limited(
  limits: Partial<Record<"known" | "unauthenticated" | "address", { requests?: number; bytes?: number }>>,
): LoadShedding {
  const room = (name: keyof typeof limits) => ({ requests: 100, bytes: 1_000, ...limits[name] });
  return new LoadShedding({
    known: room("known"),
    unauthenticated: room("unauthenticated"),
    address: room("address"),
    connection: 2,
  });
}

function aSocket() {
  const socket = { destroyed: false, destroy: () => (socket.destroyed = true) };
  return socket;
}

/** A request that has entered, and whether it was cut. */
function enter(load: LoadShedding, address: string) {
  const socket = aSocket();
  const request = { socket } as never;
  load.enter(request, address);
  return { request, isCut: () => socket.destroyed, hold: (bytes: number) => load.hold(request, bytes)?.code };
}

describe("requests", () => {
  test("of one address give way to its next one, the oldest first, and nobody else's do", () => {
    const load = limited({ address: { requests: 2 } });
    const all = [there, here, here, here].map((address) => enter(load, address));
    expect(all.map(({ isCut }) => isCut())).toEqual([false, true, false, false]);
    expect([load.requests, load.cut]).toEqual([3, 1]);
  });

  test("of one address are counted together also after one of them is gone, and nothing is kept of an address without any", () => {
    const load = limited({ address: { requests: 2 } });
    const [first, second] = [enter(load, here), enter(load, here)];
    load.close(first.request);
    const more = [enter(load, here), enter(load, here)];
    expect([second, ...more].map(({ isCut }) => isCut())).toEqual([true, false, false]);
    for (const { request } of more) load.close(request);
    expect(Reflect.get(load, "crowds")).toEqual(new Map());
  });

  test("of everybody give way to the next one, whoever's it is", () => {
    const load = limited({ unauthenticated: { requests: 2 } });
    const all = [there, here, here].map((address) => enter(load, address));
    expect(all.map(({ isCut }) => isCut())).toEqual([true, false, false]);
    expect(load.requests).toBe(2);
  });

  test("that a handler works on give way to none", () => {
    const load = limited({ unauthenticated: { requests: 2 } });
    const [first, second] = [enter(load, here), enter(load, here)];
    load.begin(first.request);
    enter(load, there);
    expect([first.isCut(), second.isCut()]).toEqual([false, true]);
    const full = limited({ unauthenticated: { requests: 1 } });
    full.begin(enter(full, here).request);
    expect(() => enter(full, there)).toThrow("cannot answer now");
    expect(full.requests).toBe(1);
  });

  test("are counted until they are answered and no handler works on them, and not once more", () => {
    const load = limited({});
    for (const isKnown of [false, true]) {
      const { request, hold } = enter(load, here);
      hold(5);
      if (isKnown) load.prove(request);
      load.begin(request);
      load.close(request);
      expect([load.requests, load.bytes]).toEqual([1, 5]);
      load.end(request);
      load.end(request);
      load.close(request);
      expect([load.requests, load.bytes]).toEqual([0, 0]);
    }
  });

  test("whose client has gone before a handler began are counted no longer, whatever comes of them", () => {
    const load = limited({});
    for (const isKnown of [false, true]) {
      const { request, hold } = enter(load, here);
      if (isKnown) load.prove(request);
      load.close(request);
      load.begin(request);
      expect(hold(5)).toBeUndefined();
      load.end(request);
      expect([load.requests, load.bytes]).toEqual([0, 0]);
    }
  });

  test("that take no capacity, as long polls, are no concern of it", () => {
    const load = limited({});
    const request = { socket: aSocket() } as never;
    load.begin(request);
    load.prove(request);
    expect(load.hold(request, 5)).toBeUndefined();
    load.end(request);
    load.close(request);
    expect([load.requests, load.bytes]).toEqual([0, 0]);
  });

  test("of those who are known have a room of their own, and mark their connection", () => {
    const load = limited({ known: { requests: 1 }, unauthenticated: { requests: 1 } });
    const socket = aSocket();
    const first = { socket } as never;
    load.enter(first, here);
    expect(hasProved(socket as never)).toBe(false);
    for (let time = 0; time < 2; time++) load.prove(first);
    expect([hasProved(socket as never), load.requests]).toEqual([true, 1]);
    const second = enter(load, here);
    expect(() => load.prove(second.request)).toThrow("cannot answer now");
    expect([socket.destroyed, second.isCut(), load.requests]).toEqual([false, false, 2]);
  });
});

describe("bytes", () => {
  test("of one address fit up to its last one; a body that is refused gives all of its own back", () => {
    const load = limited({ address: { bytes: 10 } });
    const [first, second] = [enter(load, here), enter(load, here)];
    expect([first.hold(4), second.hold(6)]).toEqual([undefined, undefined]);
    expect(second.hold(1)).toBe("SERVICE_UNAVAILABLE");
    expect(load.bytes).toBe(4);
    expect([first.hold(6), enter(load, there).hold(10)]).toEqual([undefined, undefined]);
    expect([first.isCut(), second.isCut()]).toEqual([false, false]);
  });

  test("of everybody take the place of the oldest that has some, and not of itself", () => {
    const load = limited({ unauthenticated: { bytes: 10 } });
    const [own, idle, oldest] = [enter(load, here), enter(load, there), enter(load, there)];
    own.hold(4);
    oldest.hold(6);
    expect([own.isCut(), idle.isCut(), oldest.isCut()]).toEqual([false, false, false]);
    expect(own.hold(1)).toBeUndefined();
    expect([own.isCut(), idle.isCut(), oldest.isCut()]).toEqual([false, false, true]);
    expect(load.bytes).toBe(5);
    expect(own.hold(6)).toBe("SERVICE_UNAVAILABLE");
    expect(own.isCut()).toBe(false);
  });

  test("of those who are known are counted among their own, whether they came before or after", () => {
    const load = limited({ known: { bytes: 10 }, address: { bytes: 10 } });
    const [first, second, third] = [enter(load, here), enter(load, here), enter(load, here)];
    first.hold(6);
    second.hold(4);
    load.prove(first.request);
    load.prove(second.request);
    // What they held is free for others of their address.
    expect(third.hold(1)).toBeUndefined();
    expect(() => load.prove(third.request)).toThrow("cannot answer now");
    expect(second.hold(1)).toBe("SERVICE_UNAVAILABLE");
    expect(load.bytes).toBe(7);
    load.prove(third.request);
    expect(first.hold(3)).toBeUndefined();
    expect(first.hold(1)).toBe("SERVICE_UNAVAILABLE");
  });
});

test("a connection has so many requests without an answer; those that are answered count no longer, and it is cut once", () => {
  const load = limited({});
  const socket = aSocket();
  const arrive = () => {
    const response = { req: { socket }, writableFinished: false };
    return { response, isTaken: load.arrive(response as never) };
  };
  const isWaiting = () => load.isWaiting(socket as never);
  expect(isWaiting()).toBe(false);
  const [first, second] = [arrive(), arrive()];
  first.response.writableFinished = true;
  expect(isWaiting()).toBe(true);
  second.response.writableFinished = true;
  expect(isWaiting()).toBe(false);
  const later = [arrive(), arrive(), arrive(), arrive()];
  expect([first, second, ...later].map(({ isTaken }) => isTaken)).toEqual([true, true, true, true, false, false]);
  expect([socket.destroyed, load.cut]).toEqual([true, 1]);
});
