// One merchant: its books, its settings as they stand and can be changed, and who gets in: credentials, webhooks, its first owner.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { read } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { MerchantState } from "../merchants.tsx";
import { BookLinks } from "./book-links.tsx";
import type { Merchant } from "./change.tsx";
import { Credentials } from "./credentials.tsx";
import { Invite } from "./invite.tsx";
import { Limits } from "./limits.tsx";
import { Methods } from "./methods.tsx";
import { Schedule } from "./schedule.tsx";
import { Suspend } from "./suspend.tsx";
import { Webhooks } from "./webhooks.tsx";

export function Page() {
  const id = usePart("id");
  const isAdmin = useMay()("admin");
  const merchant = useQuery(read("/v1/merchants/{id}", { path: { id } }));
  return (
    <Frame
      title={merchant.data?.name ?? "Merchant"}
      above={{ to: at.merchants(), label: "Merchants" }}
      beside={
        <>
          {merchant.data && <MerchantState of={merchant.data} />}
          <Identity id={id} what="the merchant's identity" />
        </>
      }
      actions={
        <>
          <ButtonLink to={at.auditOfMerchant(id)}>Who changed what</ButtonLink>
          {isAdmin && merchant.data && <Suspend of={merchant.data} />}
        </>
      }
      curl={{ path: `/v1/merchants/${id}` }}
    >
      <Answer of={merchant}>{(merchant) => <Views of={merchant} />}</Answer>
    </Frame>
  );
}

function Views({ of: merchant }: { of: Merchant }) {
  const { merchant_id: id } = merchant;
  return (
    <>
      {merchant.suspended && (
        <p role="status" className="rounded border border-bad/50 px-3 py-2">
          <strong className="font-medium text-bad">Suspended.</strong> Its systems and its people in the portal are
          answered with 403.
        </p>
      )}
      <Section title="Books">
        <BookLinks id={id} />
      </Section>
      <Tabs
        label="Views of the merchant"
        tabs={{
          settings: {
            label: "Settings",
            content: () => (
              <>
                <Limits of={merchant} />
                <Methods of={merchant} />
                <Schedule of={merchant} />
              </>
            ),
          },
          access: {
            label: "Access",
            content: () => (
              <>
                <Credentials id={id} />
                <Webhooks id={id} />
                <Invite id={id} />
              </>
            ),
          },
        }}
      />
    </>
  );
}
