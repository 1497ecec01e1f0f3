// A value that several parts of the page watch, and that is part of no question.
import { useSyncExternalStore } from "react";

export interface Store<Value> {
  get: () => Value;
  set: (to: Value) => void;
  /** The value; the part is drawn again when it changes. */
  use: () => Value;
}

export function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const get = (): Value => value;
  return {
    get,
    set(to) {
      value = to;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
