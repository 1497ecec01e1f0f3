// Around what is shown once, such as a secret. Only a button that says so takes it away: no Escape, no press beside its dialog, no end of the session.
import type { ReactNode } from "react";

export function Once({ children }: { children: ReactNode }) {
  return (
    <div className="space-y-4" data-once>
      {children}
    </div>
  );
}
