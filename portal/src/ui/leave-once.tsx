// Asks whoever is about to leave what is shown once. Apart from once.tsx, because the person's menu is on every page.
import { Confirm, type ConfirmProps } from "./dialog.tsx";

export function LeaveOnce(props: Omit<ConfirmProps, "title" | "children">) {
  return (
    <Confirm {...props} title="Leave it here?">
      <p>What this page shows is shown only once. Have you kept it?</p>
    </Confirm>
  );
}
