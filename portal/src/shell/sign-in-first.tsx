// Leads to the sign-in, which leads back to the current address.
import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { useGo } from "../address.ts";
import { paths, withSearch } from "../paths.ts";

/** The address of the sign-in, with the address to return to. */
function signInPath(from: string): string {
  return withSearch(paths.signIn(), { next: from === "/" ? undefined : from });
}

export function SignInFirst() {
  const go = useGo();
  const from = useRouterState({ select: ({ location }) => location.href });
  useEffect(() => {
    if (!from.startsWith(paths.signIn())) void go(signInPath(from), { replace: true });
  }, [from, go]);
  return null;
}
