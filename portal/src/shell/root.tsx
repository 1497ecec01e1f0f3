// Around every page: the messages, and the proof dialog that any call may open.
import { Outlet } from "@tanstack/react-router";
import { Suspense, lazy } from "react";
import { useProofAsked } from "../api/proof.ts";
import { Toasts } from "../ui/toast.tsx";

const ProofDialog = lazy(() => import("./proof-dialog.tsx"));

export function Root() {
  const isAsked = useProofAsked();
  return (
    <>
      <Outlet />
      <Toasts />
      {isAsked && (
        <Suspense fallback={null}>
          <ProofDialog />
        </Suspense>
      )}
    </>
  );
}
