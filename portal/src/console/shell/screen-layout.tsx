// Around pages that have a screen of their own: nothing but who is signed in.
import { Outlet } from "@tanstack/react-router";
import { SessionGate } from "../../shell/session-gate.tsx";

export function ScreenLayout() {
  return <SessionGate>{() => <Outlet />}</SessionGate>;
}
