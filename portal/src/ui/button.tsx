// Buttons. A pending button shows that it works, and ignores further clicks.
import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useRef,
  useState,
} from "react";
import { classes } from "./classes.ts";
import { To } from "./link.tsx";

const looks = {
  /** The main action of a page. */
  primary: "border-accent bg-accent text-on-accent hover:opacity-90",
  plain: "border-line bg-panel text-ink hover:bg-hover",
  /** Actions that cannot be undone. */
  danger: "border-bad/50 bg-panel text-bad hover:bg-hover",
  quiet: "border-transparent bg-transparent text-muted hover:bg-hover hover:text-ink",
};

export type ButtonLook = keyof typeof looks;

const shape =
  "relative inline-flex min-h-8 items-center justify-center gap-1.5 rounded border px-3 print:hidden py-1 text-sm font-medium whitespace-nowrap no-underline aria-disabled:cursor-default aria-disabled:opacity-55";

interface Props {
  children: ReactNode;
  look?: ButtonLook;
  type?: "button" | "submit";
  /** When it returns a promise, the button is pending until the promise settles. */
  onClick?: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined;
  pending?: boolean | undefined;
  disabled?: boolean | undefined;
  /** The accessible name, for buttons with only an icon. */
  label?: string | undefined;
  className?: string | undefined;
  ref?: Ref<HTMLButtonElement> | undefined;
}

export function Button({
  children,
  look = "plain",
  type = "button",
  onClick,
  pending = false,
  disabled,
  label,
  className,
  ...rest
}: Props) {
  const busy = useRef(false);
  const [working, setWorking] = useState(false);
  const waits = pending || working;
  const click = async (event: MouseEvent<HTMLButtonElement>): Promise<void> => {
    if (waits || disabled || busy.current) {
      event.preventDefault();
      return;
    }
    const work = onClick?.(event);
    if (!(work instanceof Promise)) return;
    busy.current = true;
    setWorking(true);
    await work.finally(() => {
      busy.current = false;
      setWorking(false);
    });
  };
  return (
    // A pending button is not disabled, because it would lose the focus.
    <button
      type={type === "submit" ? "submit" : "button"}
      {...rest}
      aria-label={label}
      aria-busy={waits || undefined}
      aria-disabled={waits || disabled || undefined}
      className={classes(shape, looks[look], className)}
      onClick={(event) => void click(event)}
      onKeyDown={ignoreHeldEnter}
    >
      {children}
      {waits && <Spinner />}
    </button>
  );
}

/**
 * Enter that is held down repeats itself. It presses nothing a second time: what it opened, such as the form of a refund with the amount filled in,
 * would be sent before anybody has read it. In a text of several lines it goes on making lines.
 */
export function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.repeat && event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
}

/** A link with the look of a button. */
interface ButtonLinkProps extends Pick<ComponentProps<typeof To>, "to" | "children" | "ignoreBlocker"> {
  look?: ButtonLook;
}

export function ButtonLink({ look = "plain", ...link }: ButtonLinkProps) {
  return <To {...link} className={classes(shape, looks[look])} />;
}

function Spinner() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className="size-3.5 shrink-0 animate-spin">
      <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" strokeWidth="2" opacity="0.3" />
      <path d="M8 1.5A6.5 6.5 0 0 1 14.5 8" fill="none" stroke="currentColor" strokeWidth="2" />
    </svg>
  );
}
