import type { Request } from 'express';
import { invalidParam } from '../graph-error.js';
import { fieldsOf, type Fields, pick } from '../http/fields.js';
import { parametersOf } from '../http/parameters.js';
import { pageOf, pathId, queryParam, type Route, SUCCESS } from '../http/route.js';
import type { IdSource } from '../ids.js';
import { Param } from '../messages/param.js';
import type { Table } from '../store.js';

const LONGEST_MESSAGE = 140;
const MOST_OF_A_NUMBER = 2_000;
const FORMATS = ['PNG', 'SVG'];

export interface QrCode {
  phoneNumberId: string;
  code: string;
  message: string;
}

const FIELDS: Fields<QrCode> = {
  id: ({ code }) => code,
  code: ({ code }) => code,
  prefilled_message: ({ message }) => message,
  deep_link_url: ({ code }) => `https://wa.me/message/${code}`,
  qr_image_url: ({ code }, { modifiers }) => imageOf(code, modifiers.format ?? 'SVG'),
};
const USUAL_FIELDS = ['code', 'prefilled_message', 'deep_link_url'];

/** Short links with a text filled in. Their images are addresses of the platform's shape, where nothing is. */
export function qrCodeRoutes({ qrCodes, ids }: { qrCodes: Table<QrCode>; ids: IdSource }): Route[] {
  const keyOf = (request: Request, code: string) => `${pathId(request, 'phone_number')} ${code}`;
  const existing = (request: Request, code: string): QrCode => {
    const found = qrCodes.get(keyOf(request, code));
    if (found === undefined) throw invalidParam(`Param code is no QR code of this number: ${code}`);
    return found;
  };
  const shown = (request: Request, code: QrCode, format?: string) => ({
    ...pick(
      code,
      FIELDS,
      fieldsOf(request, FIELDS, USUAL_FIELDS, 'WhatsAppQRCode').filter(({ name }) => name !== 'id'),
    ),
    ...(format !== undefined && { qr_image_url: imageOf(code.code, format) }),
  });
  const write = (request: Request, given?: string) => {
    const phoneNumberId = pathId(request, 'phone_number');
    const param = Param.body(parametersOf(request));
    const format = param.optionalOneOf('generate_qr_image', FORMATS);
    const code = given ?? param.optionalText('code', 64);
    const message = param.optionalText('prefilled_message', LONGEST_MESSAGE) ?? '';
    if (message === '') throw invalidParam('The parameter prefilled_message is required.');
    if (code === undefined && of(phoneNumberId).length >= MOST_OF_A_NUMBER) {
      throw invalidParam(`A number has at most ${MOST_OF_A_NUMBER} QR codes.`);
    }
    const changed =
      code === undefined ? { phoneNumberId, code: newCode(ids), message } : { ...existing(request, code), message };
    qrCodes.set(keyOf(request, changed.code), changed);
    return shown(request, changed, format);
  };
  const of = (phoneNumberId: string) => [...qrCodes.values()].filter((code) => code.phoneNumberId === phoneNumberId);
  const list = (request: Request) => {
    const all = of(pathId(request, 'phone_number'));
    const code = queryParam(request, 'code');
    const page = pageOf(code === null ? all : [existing(request, code)], (each) => each.code, request);
    return { ...page, data: page.data.map((each) => shown(request, each)) };
  };
  const remove = (request: Request) => {
    const { code } = existing(request, pathId(request, 'code'));
    qrCodes.delete(keyOf(request, code));
    return SUCCESS;
  };
  const one = '/:phone_number/message_qrdls/:code';
  return [
    ['GET', '/:phone_number/message_qrdls', list],
    ['POST', '/:phone_number/message_qrdls', (request) => write(request)],
    ['GET', one, (request) => ({ data: [shown(request, existing(request, pathId(request, 'code')))] })],
    ['POST', one, (request) => write(request, pathId(request, 'code'))],
    ['DELETE', one, remove],
  ];
}

function imageOf(code: string, format: string): string {
  return `https://scontent.whatsapp.net/m1/v/t6/${code}.${format.toLowerCase()}?ccb=10-5&oh=01_Q5&oe=6971C5A0`;
}

/** 14 capital letters and digits, as the platform's are. */
function newCode(ids: IdSource): string {
  return BigInt(ids.newObjectId()).toString(36).toUpperCase().padStart(14, 'A');
}
