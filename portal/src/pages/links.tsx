// Payment links: addresses where payers pay, what each asks for, and how it stands.
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Empty } from "../ui/empty.tsx";
import { Filters, choice, useFilters } from "../ui/filters.tsx";
import { useCursor, useList } from "../ui/list.ts";
import { NoneMatch } from "../ui/none-match.tsx";
import { Page as Frame } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Asked, LinkStatus } from "./links/terms.tsx";

type PaymentLink = Schema<"PaymentLink">;

// The names are those of the API's query.
const spec = { status: choice("Status", ["active", "paid", "expired", "deactivated"]) };

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(api.read("/v1/payment-links", { query: { ...filters.value, ...cursor.query } }));

  const columns: Column<PaymentLink>[] = [
    {
      head: "For",
      cell: (link) => (
        <span className="line-clamp-1 max-w-36 break-all roomy:max-w-64 roomy:min-w-24">
          {link.description ?? <span className="text-muted">…{link.uuid.slice(-8)}</span>}
        </span>
      ),
    },
    { head: "Status", cell: (link) => <LinkStatus of={link} /> },
    { head: "Amount", align: "right", cell: (link) => <Asked of={link} /> },
    { head: "Paid", from: "wide", cell: (link) => (link.reusable ? "again and again" : "once") },
    {
      head: "Until",
      from: "full",
      cell: (link) =>
        link.expires_at === null ? (
          <span className="text-muted">you close it</span>
        ) : (
          <Time at={link.expires_at} shape="minute" />
        ),
    },
    {
      head: "Created",
      align: "right",
      from: "wide",
      cell: (link) => <Time at={link.created_at} shape="minute" />,
    },
    { head: "Address", align: "right", from: "wide", cell: (link) => <Copy text={link.url} what="the link" /> },
  ];

  return (
    <Frame
      title="Payment links"
      lead="Addresses where anyone can pay you. Share one in a chat, on an invoice, or as a QR code on a counter."
      actions={can("payments:write") && <ButtonLink to={paths.linkNew(place)}>New link</ButtonLink>}
      curl={{ path: withSearch("/v1/payment-links", filters.value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Payment links"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(link) => link.uuid}
          to={(link) => paths.link(place, link.uuid)}
          empty={filters.isSet ? <NoneMatch what="link" of={list.data} cursor={cursor} /> : <NoneYet />}
        />
      </div>
    </Frame>
  );
}

function NoneYet() {
  const place = usePlace();
  const can = useCan();
  return (
    <Empty
      title="No payment links yet"
      action={can("payments:write") && <ButtonLink to={paths.linkNew(place)}>Make the first one</ButtonLink>}
      curl={{
        method: "POST",
        path: "/v1/payment-links",
        body: { amount_minor: 15_000_000, currency: "IDR", description: "Two bags of coffee", reusable: false },
      }}
    >
      A link needs no web page or code of your own. The payer chooses how to pay, and each use is a payment like any
      other.
    </Empty>
  );
}
