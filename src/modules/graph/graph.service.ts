import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { invalidField } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { PublicUrl } from '../../infrastructure/http/public-url.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import type { Caller } from '../keys/caller.decorator.js';
import { ApiKeysService } from '../keys/keys.service.js';
import { MediaService } from '../media/media.service.js';
import type { ListedMedia } from '../media/media.types.js';
import { UploadService } from '../media/upload/upload.service.js';
import { MessagesService } from '../messages/messages.service.js';
import { ReadReceiptsService } from '../messages/read-receipts.service.js';
import { TemplatesService } from '../templates/templates.service.js';
import { cursorOf, fieldsOf, phoneNumberIdOf, type Query, templatesQueryOf } from './dto/graph.query.js';
import {
  type MediaNode,
  mediaNodeOf,
  type NumberNode,
  numberNodeOf,
  type Page,
  type SentMessage,
} from './dto/graph.response.js';
import { answeredBy, bodyOf, inWordsOf, readBody, recipientOf } from './graph-message.js';
import { graphErrors } from './graph.errors.js';

/** WhatsApp's ids: up to 17 digits today. */
const PLATFORM_ID = /^\d{1,32}$/;

/** Translates requests of the Cloud API to those of Herald. */
@Injectable()
export class GraphService {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly messages: MessagesService,
    private readonly receipts: ReadReceiptsService,
    private readonly media: MediaService,
    private readonly uploads: UploadService,
    private readonly templates: TemplatesService,
    private readonly keys: ApiKeysService,
    private readonly publicUrl: PublicUrl,
  ) {}

  /**
   * POST /{phone_number_id}/messages that sends: queues the message, by the rules of POST /messages.
   *
   * @throws GRAPH_OBJECT_NOT_FOUND (404), INVALID_REQUEST (400), and what `MessagesService.send` throws.
   */
  async send(
    caller: Caller,
    phoneNumberId: string,
    body: unknown,
    idempotencyKey: string | null,
  ): Promise<{ answer: SentMessage; replayed: boolean }> {
    const connection = await this.number(caller, phoneNumberId);
    const given = readBody(body);
    const answered = answeredBy(given);
    const replyTo = answered && (await this.messageId(connection, answered));
    const { input, to } = recipientOf(given);
    try {
      const own = bodyOf(given, connection.id, replyTo);
      const { messageId, replayed } = await this.messages.sendBody(caller, idempotencyKey, own);
      const answer: SentMessage = {
        messaging_product: 'whatsapp',
        contacts: [to === undefined ? { input, user_id: input } : { input, wa_id: to.replace('+', '') }],
        messages: [{ id: messageId, ...(own.type === 'template' && { message_status: 'accepted' }) }],
      };
      return { answer, replayed };
    } catch (error) {
      throw inWordsOf(given, error);
    }
  }

  /** POST /{phone_number_id}/messages that marks as read. @throws as `ReadReceiptsService.markRead`. */
  async markRead(caller: Caller, phoneNumberId: string, body: unknown): Promise<void> {
    const connection = await this.number(caller, phoneNumberId);
    const { status, message_id: name, typing_indicator: typing } = readBody(body);
    if (status !== 'read') throw invalidField('status', 'one_of', 'status must be read.');
    if (typeof name !== 'string') throw invalidField('message_id', 'required', 'message_id is missing.');
    const id = await this.messageId(connection, { field: 'message_id', name });
    await this.receipts.markRead(caller, id, typing !== undefined);
  }

  /** POST /{phone_number_id}/media. @throws as `UploadService.upload`. */
  async upload(
    caller: Caller,
    phoneNumberId: string,
    query: Query,
    req: HeraldRequest,
    res: Response,
  ): Promise<ListedMedia> {
    const connection = await this.number(caller, phoneNumberId);
    return this.uploads.upload(
      caller,
      req,
      res,
      ({ messaging_product: product = query.messaging_product, type, ...others }) => {
        if (product !== undefined && product !== 'whatsapp') {
          throw invalidField('messaging_product', 'one_of', 'messaging_product must be whatsapp.');
        }
        const mimeType = typeof type === 'string' ? type : undefined;
        return { fields: { ...others, connection_id: connection.id }, mimeType };
      },
    );
  }

  /**
   * GET /{id}: a number by its digits, a file by Herald's id.
   *
   * @throws GRAPH_OBJECT_NOT_FOUND (404), SCOPE_REQUIRED (403), MEDIA_PENDING (409).
   */
  async node(caller: Caller, id: string, query: Query): Promise<MediaNode | NumberNode> {
    if (isUuid(id)) {
      this.keys.requireScope(caller, 'media:read');
      const media = await this.file(caller, id, query);
      return mediaNodeOf(media, (await this.media.link(caller.organizationId, media.id)).url);
    }
    this.keys.requireScope(caller, 'connections:read');
    return numberNodeOf(await this.number(caller, id), fieldsOf(query));
  }

  /** DELETE /{media_id}. @throws GRAPH_OBJECT_NOT_FOUND (404). */
  async deleteFile(caller: Caller, id: string, query: Query): Promise<void> {
    const media = await this.file(caller, id, query);
    await this.media.delete(caller.organizationId, media.id);
  }

  /** GET /{waba_id}/phone_numbers. @throws GRAPH_OBJECT_NOT_FOUND (404). */
  async numbers({ organizationId }: Caller, wabaId: string, query: Query): Promise<Page<NumberNode>> {
    const all = await this.connections.list(organizationId);
    const found = all.filter((connection) => connection.wabaId === wabaId);
    if (found.length === 0) throw graphErrors.GRAPH_OBJECT_NOT_FOUND({ id: shown(wabaId) });
    return { data: found.map((connection) => numberNodeOf(connection, fieldsOf(query))) };
  }

  /** GET /{waba_id}/message_templates. @throws GRAPH_OBJECT_NOT_FOUND (404), and as `TemplatesService.list`. */
  async templatesOf({ organizationId }: Caller, version: string, wabaId: string, query: Query): Promise<Page<object>> {
    const { filter, after, limit } = templatesQueryOf(query);
    const [connectionId] = PLATFORM_ID.test(wabaId) ? await this.connections.askable(organizationId, wabaId, 1) : [];
    if (connectionId === undefined) throw graphErrors.GRAPH_OBJECT_NOT_FOUND({ id: shown(wabaId) });
    const { versions, next } = await this.templates.list(organizationId, connectionId, filter, { after, limit });
    const [first, last] = [versions[0], versions.at(-1)];
    if (first === undefined || last === undefined) return { data: [] };
    const cursors = { before: cursorOf(first), after: cursorOf(last) };
    return {
      data: versions.map((template) => ({
        id: template.platformId,
        name: template.name,
        language: template.language,
        status: template.platformStatus,
        category: template.category,
        parameter_format: template.parameterFormat,
        components: template.components,
        ...(template.quality !== null && { quality_score: { score: template.quality } }),
        ...(template.rejectedReason !== null && { rejected_reason: template.rejectedReason }),
      })),
      paging: { cursors, ...(next !== null && { next: this.pageUrl(version, wabaId, query, cursors.after) }) },
    };
  }

  private pageUrl(version: string, wabaId: string, query: Query, after: string): string {
    const parameters = new URLSearchParams({ ...(query as Record<string, string>), after });
    return `${this.publicUrl.value}/graph/${version}/${wabaId}/message_templates?${parameters.toString()}`;
  }

  private async number({ organizationId }: Caller, phoneNumberId: string): Promise<Connection> {
    const found = PLATFORM_ID.test(phoneNumberId) ? await this.connections.findByPhoneNumberId(phoneNumberId) : null;
    if (found?.organizationId === organizationId) return found;
    throw graphErrors.GRAPH_OBJECT_NOT_FOUND({ id: shown(phoneNumberId) });
  }

  /** A file of the workspace, and of the number in the query. */
  private async file(caller: Caller, id: string, query: Query): Promise<ListedMedia> {
    if (!isUuid(id)) throw graphErrors.GRAPH_OBJECT_NOT_FOUND({ id: shown(id) });
    const media = await this.media.get(caller.organizationId, id.toLowerCase());
    const phoneNumberId = phoneNumberIdOf(query);
    if (phoneNumberId !== undefined && (await this.number(caller, phoneNumberId)).id !== media.connectionId) {
      throw graphErrors.GRAPH_OBJECT_NOT_FOUND({ id });
    }
    return media;
  }

  /** @throws INVALID_REQUEST (400) where the number has no such message. */
  private async messageId(connection: Connection, { field, name }: { field: string; name: string }): Promise<string> {
    const id = await this.messages.idOf(connection, name);
    if (id !== null) return id;
    const message = `${field} names no message of this number: give the id that a send answered with, or one of an event.`;
    throw invalidField(field, 'unknown', message);
  }
}

const MAX_SHOWN = 64;

/** A part of the path, in a form that an error may repeat. */
function shown(id: string): string {
  return id.slice(0, MAX_SHOWN);
}
