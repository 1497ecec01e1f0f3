// Which file draws which address of the console. Pages are fetched when they are first opened.
import type { Load } from "../pages.ts";

/** For everybody. */
export const guestPages: Record<string, Load> = {
  "/sign-in": () => import("../pages/sign-in.tsx"),
  "/invitation": () => import("./pages/invitation.tsx"),
};

/** For an operator who is signed in. */
export const operatorPages: Record<string, Load> = {
  "/": () => import("./pages/home.tsx"),
  "/waiting": () => import("./pages/waiting.tsx"),
  "/reviews/$reference": () => import("./pages/waiting/review.tsx"),
  "/receipts/$uuid": () => import("./pages/waiting/receipt.tsx"),
  "/exceptions/$uuid": () => import("./pages/waiting/exception.tsx"),
  "/merchants/$merchant/$environment/disputes/$uuid": () => import("./pages/waiting/dispute.tsx"),
  "/merchants/$merchant/$environment/settlements/$uuid": () => import("./pages/waiting/settlement.tsx"),
  "/approvals": () => import("./pages/approvals.tsx"),
  "/approvals/policy": () => import("./pages/approvals/policy.tsx"),
  "/approvals/$uuid": () => import("./pages/approvals/uuid.tsx"),
  "/payments/$reference": () => import("./pages/payments/reference.tsx"),
  "/routing": () => import("./pages/routing.tsx"),
  "/acquirers": () => import("./pages/acquirers.tsx"),
  "/status": () => import("./pages/status.tsx"),
  "/operators": () => import("./pages/operators.tsx"),
  "/tokens": () => import("./pages/tokens.tsx"),
  "/audit": () => import("./pages/audit.tsx"),
};
