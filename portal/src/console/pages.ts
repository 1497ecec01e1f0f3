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
  "/payments": () => import("./pages/payments.tsx"),
  "/payments/$reference": () => import("./pages/payments/reference.tsx"),
  "/refunds": () => import("./pages/refunds.tsx"),
  "/refunds/$uuid": () => import("./pages/refunds/uuid.tsx"),
  "/operators": () => import("./pages/operators.tsx"),
  "/tokens": () => import("./pages/tokens.tsx"),
  "/audit": () => import("./pages/audit.tsx"),
};
