// Which file draws which address of the console. Pages are fetched when they are first opened.
import type { Load } from "../pages.ts";

/** For everybody. */
export const guestPages: Record<string, Load> = {
  "/sign-in": () => import("../pages/sign-in.tsx"),
  "/invitation": () => import("./pages/invitation.tsx"),
};

/** For an operator's screen, without navigation. */
export const screenPages: Record<string, Load> = {
  "/wall/screen": () => import("./pages/wall-screen.tsx"),
};

/** For an operator who is signed in. */
export const operatorPages: Record<string, Load> = {
  "/": () => import("./pages/home.tsx"),
  "/waiting": () => import("./pages/waiting.tsx"),
  "/reviews/$reference": () => import("./pages/waiting/review.tsx"),
  "/receipts/$uuid": () => import("./pages/waiting/receipt.tsx"),
  "/exceptions/$uuid": () => import("./pages/waiting/exception.tsx"),
  "/merchants/$merchant/$environment/disputes/$uuid": () => import("./pages/waiting/dispute.tsx"),
  "/merchants/$merchant/$environment/settlements/$uuid/payout": () => import("./pages/waiting/settlement.tsx"),
  "/approvals": () => import("./pages/approvals.tsx"),
  "/approvals/policy": () => import("./pages/approvals/policy.tsx"),
  "/approvals/$uuid": () => import("./pages/approvals/uuid.tsx"),
  "/payments": () => import("./pages/payments.tsx"),
  "/payments/$reference": () => import("./pages/payments/reference.tsx"),
  "/refunds": () => import("./pages/refunds.tsx"),
  "/refunds/$uuid": () => import("./pages/refunds/uuid.tsx"),
  "/merchants": () => import("./pages/merchants.tsx"),
  "/merchants/$id": () => import("./pages/merchants/id.tsx"),
  "/merchants/$id/credentials/$client_id": () => import("./pages/merchants/client-id.tsx"),
  "/settlements": () => import("./pages/calendar.tsx"),
  "/settlements/$day": () => import("./pages/calendar/day.tsx"),
  "/trial-balance": () => import("./pages/trial-balance.tsx"),
  "/merchants/$id/$environment/settlements": () => import("./pages/settlements.tsx"),
  "/merchants/$id/$environment/settlements/$uuid": () => import("./pages/settlements/uuid.tsx"),
  "/merchants/$id/$environment/ledger": () => import("./pages/ledger.tsx"),
  "/merchants/$id/$environment/ledger/$currency": () => import("./pages/ledger/entries.tsx"),
  "/merchants/$id/$environment/ledger/$currency/statement": () => import("./pages/ledger/statement.tsx"),
  "/merchants/$id/$environment/disputes": () => import("./pages/disputes.tsx"),
  "/merchants/$id/$environment/events": () => import("./pages/events.tsx"),
  "/merchants/$id/$environment/events/$event": () => import("./pages/events/id.tsx"),
  "/wall": () => import("./pages/wall.tsx"),
  "/system": () => import("./pages/system.tsx"),
  "/routing": () => import("./pages/routing.tsx"),
  "/acquirers": () => import("./pages/acquirers.tsx"),
  "/acquirers/$code": () => import("./pages/acquirers/code.tsx"),
  "/status": () => import("./pages/status.tsx"),
  "/operators": () => import("./pages/operators.tsx"),
  "/tokens": () => import("./pages/tokens.tsx"),
  "/audit": () => import("./pages/audit.tsx"),
  "/audit/rejected": () => import("./pages/audit/rejected.tsx"),
};
