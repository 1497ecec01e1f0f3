// Maps that keep their newest entries only.

/** Sets an entry as the newest of a map, and deletes the oldest beyond `most`. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys(); // in the order of insertion
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
