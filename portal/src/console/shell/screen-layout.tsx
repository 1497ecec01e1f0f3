// Around pages that have a screen of their own: nothing but who is signed in.
import { Outlet } from "@tanstack/react-router";
import { OperatorGate } from "./operator-gate.tsx";

export function ScreenLayout() {
  return <OperatorGate>{() => <Outlet />}</OperatorGate>;
}
