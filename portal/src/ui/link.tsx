// Links to other pages; their addresses come from paths.ts.
import { Link } from "@tanstack/react-router";
import type { ReactNode, Ref } from "react";
import { searchOf } from "../address.ts";

interface Props {
  to: string;
  children: ReactNode;
  className?: string | undefined;
  /** `page` for a link to the current page. */
  "aria-current"?: "page" | undefined;
  onClick?: (() => void) | undefined;
  /** Leads away from what is shown once without asking whether it is kept. */
  ignoreBlocker?: boolean;
  ref?: Ref<HTMLAnchorElement> | undefined;
}

/**
 * A link to a page. `to` may have a query: `/payments?status=paid`. By itself the router would call every link to a page above the current one, such as
 * Home, the current page, too.
 */
export function To({ to, className = "link", children, ...rest }: Props) {
  const [path = "", query] = to.split("?");
  return (
    <Link
      to={path}
      search={searchOf(query)}
      className={className}
      {...rest}
      activeOptions={{ exact: true }}
      activeProps={{}}
      inactiveProps={{}}
    >
      {children}
    </Link>
  );
}
