// The shapes of the QRIS workbench, which composes and decodes QRIS texts.
import { z } from "zod";
import { minorAmount, text } from "../http/shapes.ts";

/** Twice what the standard allows (512 characters), so that the workbench can read texts which are too long, too. */
const QR_MAX = 1024;

export const readQrSchema = z
  .strictObject({ qr_string: text(1, QR_MAX) })
  .meta({ id: "DecodeQris", examples: [{ qr_string: "00020101021226…6304A13B" }] });

const objectShape = {
  tag: z.string().meta({ examples: ["59"] }),
  name: z.string().meta({ description: "What the tag means.", examples: ["Merchant's name"] }),
  value: z.string(),
  meaning: z.string().nullable().meta({ description: "What the value means, where that is not plain." }),
};
const innerSchema = z.strictObject(objectShape).meta({ id: "QrisInnerObject" });
const objectSchema = z
  .strictObject({
    ...objectShape,
    objects: z.array(innerSchema).nullable().meta({ description: "What is inside, of a template." }),
  })
  .meta({ id: "QrisObject", description: "A data object: tag, length and value." });

const example = { tag: "59", name: "Merchant's name", value: "TOKO SARI", meaning: null, objects: null };
export const qrSchema = z
  .strictObject({
    qr_string: z.string(),
    objects: z.array(objectSchema),
    crc: z
      .strictObject({
        stated: z.string().nullable().meta({ description: "Null where there is none." }),
        computed: z.string(),
        matches: z.boolean(),
      })
      .meta({ id: "QrisChecksum", description: "CRC-16/CCITT-FALSE over all before it." }),
    problems: z
      .array(z.string())
      .meta({ description: "What a strict reader would refuse it for. None when it is whole." }),
  })
  .meta({
    id: "Qris",
    examples: [
      {
        qr_string: "00020101021226…6304A13B",
        objects: [example],
        crc: { stated: "A13B", computed: "A13B", matches: true },
        problems: [],
      },
    ],
  });

const digits = (minimum: number, maximum: number) =>
  z.string().regex(new RegExp(`^\\d{${minimum},${maximum}}$`), `must be ${minimum} to ${maximum} digits`);
const printable = (maximum: number) =>
  z.string().regex(new RegExp(`^[ -~]{1,${maximum}}$`), `must be 1 to ${maximum} printable ASCII characters`);

export const composeQrSchema = z
  .strictObject({
    amount_minor: minorAmount("In IDR, more than nothing. Without it the code is static: the payer types the amount.")
      .min(1)
      .optional(),
    merchant_name: printable(25),
    city: printable(15),
    postal_code: digits(5, 5),
    category_code: digits(4, 4).meta({ description: "ISO 18245." }),
    national_merchant_id: z.string().regex(/^ID\d{11,13}$/, "must be ID and 11 to 13 digits"),
    merchant_pan: digits(16, 19),
    bill_number: printable(25).optional(),
  })
  .meta({
    id: "EncodeQris",
    examples: [
      {
        amount_minor: 7_500_000,
        merchant_name: "TOKO SARI",
        city: "JAKARTA",
        postal_code: "10110",
        category_code: "5999",
        national_merchant_id: "ID1020012345678",
        merchant_pan: "9360001412345678901",
        bill_number: "INV-1042",
      },
    ],
  });
