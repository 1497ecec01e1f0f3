// Lets nobody wait for an answer that never comes: when a provider of the tests leaves a call without one, the call ends as by its deadline.
import type { CallableAcquirer } from "../src/providers/exam/bench.ts";

export class Silence {
  private ending = new AbortController();

  /** The provider has left a call without an answer, and has done all that it does about it. */
  begin(): void {
    this.ending.abort();
    this.ending = new AbortController();
  }

  /** The acquirer, whose calls in flight end when a silence begins. Its deadline may then be so long that every answer comes in time. */
  endsCallsOf(acquirer: CallableAcquirer): CallableAcquirer {
    const ended = (given: unknown): unknown =>
      given instanceof AbortSignal ? AbortSignal.any([given, this.ending.signal]) : given;
    const calls = new Proxy(acquirer.calls, {
      get(target, name: keyof CallableAcquirer["calls"]) {
        const found: unknown = target[name];
        if (typeof found !== "function") return found;
        return (...given: unknown[]): unknown => Reflect.apply(found, target, given.map(ended));
      },
    });
    return { ...acquirer, calls };
  }
}
