// Where something is still to come: grey, of its later size, so that nothing moves when it does.
import { classes } from "./classes.ts";

/** Give it the size of what comes: `className="h-40 w-full"`. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={classes("skeleton", className)} />;
}
