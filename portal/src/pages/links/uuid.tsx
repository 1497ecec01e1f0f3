// One payment link: its address and QR code, what it asks for, and the payments that came by it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { usePart } from "../../address.ts";
import { refresh } from "../../api/action.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { FromBookNow } from "../../ui/book-time.tsx";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Copy, Identity } from "../../ui/copy.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { To } from "../../ui/link.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Qr } from "../../ui/qr.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { saveQr } from "./save-qr.ts";
import { Asked, LinkStatus } from "./terms.tsx";

type PaymentLink = Schema<"PaymentLink">;

const sentences: Record<PaymentLink["status"], string> = {
  active: "Anyone with the address can pay.",
  paid: "It could be paid once, and it has been. Nobody can pay it again.",
  expired: "It has expired: nobody can start a payment with it any more.",
  deactivated: "You closed it: nobody can start a payment with it any more.",
};

export function Page() {
  const place = usePlace();
  const api = useApi();
  const uuid = usePart("uuid");
  const link = useQuery(api.read("/v1/payment-links/{uuid}", { path: { uuid } }));
  return (
    <Frame
      title="Payment link"
      above={{ to: paths.links(place), label: "Payment links" }}
      beside={
        <>
          {link.data && <LinkStatus of={link.data} />}
          <Identity id={uuid} what="the link's identity" />
        </>
      }
      actions={link.data && <Close of={link.data} />}
      curl={{ path: `/v1/payment-links/${uuid}` }}
    >
      <Answer of={link}>
        {(link) => (
          <>
            <p className="max-w-2xl">{sentences[link.status]}</p>
            <div className="grid items-start gap-6 lg:grid-cols-[auto_minmax(0,1fr)]">
              <Address of={link} />
              <LinkFacts of={link} />
            </div>
            <Payments of={link} />
            <Section title="As the API tells it">
              <Code value={link} what="the link" />
            </Section>
          </>
        )}
      </Answer>
    </Frame>
  );
}

/** What is handed to payers. Once nobody can pay by it, only its text is left. */
function Address({ of: { url, status, description } }: { of: PaymentLink }) {
  const shown = url.replace(/^https?:\/\//, "");
  return (
    <section aria-label="The address" className="w-full max-w-sm rounded-md border border-line bg-panel p-4">
      {status === "active" && (
        <>
          <Qr text={url} label="The QR code of the link" size={224} />
          <div className="mt-3 flex flex-wrap gap-2">
            <Button onClick={() => saveQr(url, description ?? "payment-link")}>
              <Download size={14} aria-hidden="true" /> Save the QR code
            </Button>
          </div>
        </>
      )}
      <p className={status === "active" ? "mt-3 flex items-start gap-1" : "flex items-start gap-1"}>
        <a className="link min-w-0 font-mono text-xs break-all" href={url} target="_blank" rel="noopener noreferrer">
          {shown}
        </a>
        <Copy text={url} what="the link" />
      </p>
    </section>
  );
}

function LinkFacts({ of: link }: { of: PaymentLink }) {
  const place = usePlace();
  return (
    <Facts>
      <Fact name="Amount">
        <Asked of={link} />
      </Fact>
      <Fact name="Paid">{link.reusable ? "again and again" : "once"}</Fact>
      <Fact name="For">{link.description ?? <span className="text-muted">not said</span>}</Fact>
      <Fact name="Methods">
        {link.payment_methods === null
          ? "all that are active"
          : link.payment_methods.map((method) => method.replaceAll("_", " ")).join(", ")}
      </Fact>
      <Fact name="Created">
        <Time at={link.created_at} />
      </Fact>
      {link.deactivated_at === null ? (
        <Fact name="Open until">
          {link.expires_at === null ? (
            "you close it"
          ) : (
            <>
              <Time at={link.expires_at} />{" "}
              {link.status === "active" && <FromBookNow at={link.expires_at} instead={null} />}
            </>
          )}
        </Fact>
      ) : (
        <Fact name="Closed">
          <Time at={link.deactivated_at} />
        </Fact>
      )}
      <Fact name="Payer gives name and e-mail">{link.customer_required ? "yes" : "no"}</Fact>
      {!link.reusable && (
        <Fact name="Its payment">
          {link.payment_reference === null ? (
            <span className="text-muted">none is open</span>
          ) : (
            <To to={paths.payment(place, link.payment_reference)} className="link font-mono text-xs">
              …{link.payment_reference.slice(-8)}
            </To>
          )}
        </Fact>
      )}
    </Facts>
  );
}

function Payments({ of: { uuid, status } }: { of: PaymentLink }) {
  const place = usePlace();
  const api = useApi();
  const cursor = useCursor();
  const list = useList(api.read("/v1/payments", { query: { payment_link: uuid, ...cursor.query } }));
  const columns: Column<Schema<"Payment">>[] = [
    { head: "Payment", cell: ({ reference }) => <code className="font-mono text-xs">…{reference.slice(-8)}</code> },
    { head: "Status", cell: (payment) => <Status status={payment.status} /> },
    { head: "Amount", align: "right", cell: (payment) => <Money of={payment} /> },
    { head: "Method", from: "wide", cell: (payment) => payment.payment_method.replaceAll("_", " ") },
    {
      head: "Created",
      align: "right",
      from: "wide",
      cell: (payment) => <Time at={payment.created_at} shape="minute" />,
    },
  ];
  return (
    <Section title="Payments by this link">
      <Table
        label="Payments by this link"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(payment) => payment.reference}
        to={(payment) => paths.payment(place, payment.reference)}
        empty={
          <Empty title="Nobody has started to pay">
            {status === "active" ? "Send the address, or print the QR code." : "The link can no longer be used."}
          </Empty>
        }
      />
    </Section>
  );
}

function Close({ of: { uuid, status } }: { of: PaymentLink }) {
  const api = useApi();
  const can = useCan();
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  if (!can("payments:write") || (status !== "active" && status !== "expired")) return null;
  const close = async (): Promise<void> => {
    await api.write("POST", "/v1/payment-links/{uuid}/deactivate", { path: { uuid }, body: {} });
    say("The link is closed.");
    void refresh(queries, ["/v1/payment-links"]);
  };
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        Close the link
      </Button>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title="Close the link?"
        verb="Close the link"
        onConfirm={close}
      >
        <p>Nobody can start a payment with it any more, and it cannot be reopened.</p>
        <p className="text-muted">
          A payment that is already open can still be paid. If it must not be, cancel that payment.
        </p>
      </Confirm>
    </>
  );
}
