// Around what is shown once, such as a secret. Only a button that says so takes it away: no Escape, no press beside its dialog, no end of the session. Whoever
// goes to another page or signs out is asked first, and the browser asks before the tab is closed.
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LeaveOnce } from "./leave-once.tsx";

export function Once({ children }: { children: ReactNode }) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    withResolver: true,
  });
  return (
    <div className="space-y-4" data-once>
      {children}
      <LeaveOnce
        open={leaving.status === "blocked"}
        onClose={() => leaving.reset?.()}
        verb="Leave"
        onConfirm={async () => leaving.proceed?.()}
      />
    </div>
  );
}
