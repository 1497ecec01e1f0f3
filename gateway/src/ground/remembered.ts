// Caches that are emptied when they are full.

/** The value of a key in a cache of at most `most` values, made when it is not there. */
export function remembered<K, V>(cache: Map<K, V>, most: number, key: K, make: (key: K) => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  if (cache.size >= most) cache.clear();
  cache.set(key, made);
  return made;
}
