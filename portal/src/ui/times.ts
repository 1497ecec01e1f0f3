// How often something happened, in words.

export function times(count: number): string {
  return count === 1 ? "once" : `${count.toLocaleString("en")} times`;
}
