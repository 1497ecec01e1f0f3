// Create a payment: for developers, with scenarios, the payer's part and the code that does the same.
import { CreatePayment } from "../payments/new/page.tsx";

export function Page() {
  return (
    <CreatePayment
      title="Create a payment"
      lead="Fill in the form and read the signed call beside it. Create the payment here, or run the code; then pay it yourself."
    />
  );
}
