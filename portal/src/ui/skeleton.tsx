// A grey placeholder for content that still loads, in the content's size, so that nothing moves later.
import { classes } from "./classes.ts";

/** `className` sets the size of the content: `h-40 w-full`. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={classes("skeleton", className)} />;
}
