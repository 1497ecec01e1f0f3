// Caches that are emptied when they are full.

/** The value of a key in a cache of at most `most` values, made when it is not there. */
export function remembered<Key, Value>(
  cache: Map<Key, Value>,
  most: number,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  if (cache.size >= most) cache.clear();
  cache.set(key, made);
  return made;
}
