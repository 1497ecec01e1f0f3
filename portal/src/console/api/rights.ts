// What the operator who is signed in may do: what they may not is not offered. The service decides again.
import { useSession } from "../../api/session.ts";
import type { Schema } from "./client.ts";

export type Role = Schema<"OperatorRole">;
const roles: readonly Role[] = ["viewer", "support", "admin"];

/** Whether the operator has at least a role: `may("admin")`. */
export function useMay(): (least: Role) => boolean {
  const role = useSession()?.operator?.role;
  return (least) => role !== undefined && roles.indexOf(role) >= roles.indexOf(least);
}
