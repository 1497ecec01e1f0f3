// A value that several components watch and that is not an answer of the API.
import { useSyncExternalStore } from "react";

interface Store<Value> {
  get: () => Value;
  set: (to: Value) => void;
  /** A hook for the value, which redraws the component when the value changes. */
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
