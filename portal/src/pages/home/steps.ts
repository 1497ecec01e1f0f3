// Which of the first steps are taken, and where each next one is: a few short lists of the merchant say so.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";

export interface Step {
  title: string;
  text: string;
  done: boolean;
  /** Where it is taken, or where it was. */
  to: string;
  verb: string;
}

const few = { query: { limit: 10 } };
const paid: readonly Schema<"Payment">["status"][] = ["succeeded", "partially_refunded", "refunded"];

interface Steps {
  steps: Step[];
  /** Whether all lists were read. */
  isKnown: boolean;
  /** Whether one of them is still waited for. */
  isPending: boolean;
}

/** The lists are read only where the steps are `wanted`. */
export function useSteps(wanted: boolean): Steps {
  const place = usePlace();
  const api = useApi();
  const keys = useQuery({ ...api.read("/v1/credentials", few), enabled: wanted });
  const payments = useQuery({ ...api.read("/v1/payments/search", few), enabled: wanted });
  const webhook = useQuery({ ...api.read("/v1/webhook"), enabled: wanted });
  const refunds = useQuery({ ...api.read("/v1/refunds", few), enabled: wanted });
  const disputes = useQuery({ ...api.read("/v1/disputes", few), enabled: wanted });

  const made = payments.data?.data ?? [];
  const open = made.find(({ status }) => status === "pending" || status === "processing");
  const left = made.find(({ status }) => status === "succeeded" || status === "partially_refunded");
  const waiting = disputes.data?.data.find(({ status }) => status === "needs_response");
  const ofPayment = left ? paths.payment(place, left.reference) : paths.create(place);
  const steps: Step[] = [
    {
      title: "Make a key",
      text: "Your system signs its requests with it. Its secret is shown once.",
      // The one that came with the merchant has neither a name nor a use.
      done: keys.data?.data.some((key) => key.name !== null || key.last_used !== null) ?? false,
      to: paths.keys(place),
      verb: "Make a key",
    },
    {
      title: "Create a payment, and pay it",
      text: "Here, or with the call beside the form. In the sandbox you play the payer, too.",
      done: made.some(({ status }) => paid.includes(status)),
      to: open ? paths.payment(place, open.reference) : paths.create(place),
      verb: open ? "Pay it" : "Create a payment",
    },
    {
      title: "Register a webhook address",
      text: "Every event is sent there. A system on your own machine needs no address: the page explains how.",
      done: webhook.data ? webhook.data.url !== null : false,
      to: paths.webhooks(place),
      verb: "Register an address",
    },
    {
      title: "Refund a part of the payment",
      text: "The money goes back to the payer, out of your available balance.",
      done: (refunds.data?.data.length ?? 0) > 0,
      to: ofPayment,
      verb: left ? "Refund it" : "Create a payment",
    },
    {
      title: "Answer a dispute",
      text: "Contest the payment as its payer would, then answer with a statement and files.",
      done: disputes.data?.data.some(({ status }) => status !== "needs_response") ?? false,
      to: waiting ? paths.dispute(place, waiting.uuid) : ofPayment,
      verb: waiting ? "Answer it" : left ? "Contest it" : "Create a payment",
    },
  ];
  const lists = [keys, payments, webhook, refunds, disputes];
  return {
    steps,
    isKnown: lists.every(({ data }) => data !== undefined),
    isPending: wanted && lists.some((list) => list.isPending),
  };
}
