import { Injectable } from '@nestjs/common';
import { AppError } from '../../../common/app-error.js';
import { isUuid } from '../../../common/ids.js';
import type { Connection } from '../../connections/connections.types.js';
import { MediaService } from '../../media/media.service.js';
import type { FileForSending, MediaType } from '../../media/media.types.js';
import type { TemplateValues } from '../../templates/templates.types.js';
import { TemplatesService } from '../../templates/templates.service.js';
import { changeFiles, ownFilesIn, withFileIds, withHeaderFile } from '../../message-state/file-references.types.js';
import { messagesErrors } from '../messages.errors.js';
import type { MessageContent, TemplateContent } from './variants/variant.js';

/** The platform's limit for a document's name. */
const MAX_FILENAME_LENGTH = 240;
/** Types that use neither a template nor a file. */
const PLAIN: ReadonlySet<string> = new Set(['text', 'reaction', 'location', 'contacts']);

/**
 * Turns a message's content into the form that is stored and sent: looks up and fills in its template, and checks its
 * files.
 */
@Injectable()
export class ContentPreparation {
  constructor(
    private readonly templates: TemplatesService,
    private readonly media: MediaService,
  ) {}

  /** True where nothing has to be looked up. */
  isPlain({ type, mediaObjectId }: MessageContent): boolean {
    return mediaObjectId === null && PLAIN.has(type);
  }

  /**
   * @param toUserId the message is addressed to a user id, not to a number.
   * @throws TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED, TEMPLATE_PARAMETERS_MISMATCH, RECIPIENT_NEEDS_PHONE,
   * MEDIA_NOT_FOUND, MEDIA_TYPE_MISMATCH, VALIDATION_FAILED (all 422).
   */
  async prepare(connection: Connection, given: MessageContent, toUserId: boolean): Promise<MessageContent> {
    const prepared = await this.prepareAgain(connection, given, toUserId);
    const { mediaObjectId } = given;
    // The file is not used in this message, but it must exist.
    if (mediaObjectId !== null && !ownFilesIn(prepared.type, prepared.content).some(({ id }) => id === mediaObjectId)) {
      await this.media.get(connection.organizationId, mediaObjectId).catch(asViolation);
    }
    return prepared;
  }

  /** Like `prepare`, for a message that was prepared before. Its file or template may be gone by now. */
  async prepareAgain(
    connection: Connection,
    sent: MessageContent,
    toUserId: boolean,
    lookUps = new LookUps(),
  ): Promise<MessageContent> {
    const given = { ...sent, content: withFileIds(sent.type, sent.content) };
    const filled = given.type === 'template' ? await this.fillTemplate(connection, given, toUserId, lookUps) : given;
    return this.requireFiles(connection.organizationId, filled, lookUps);
  }

  private async fillTemplate(
    connection: Connection,
    given: MessageContent,
    toUserId: boolean,
    lookUps: LookUps,
  ): Promise<MessageContent> {
    const { name, language } = given.content as unknown as TemplateContent;
    const template = await lookUps.once(`template/${connection.id}/${language.code}/${name}`, () =>
      this.templates.forSending(connection, name, language.code),
    );
    if (toUserId && template.category === 'AUTHENTICATION') throw messagesErrors.RECIPIENT_NEEDS_PHONE();
    const { parameters, ...rest } = given.content as { parameters?: TemplateValues };
    const sent = parameters === undefined ? given.content : { ...rest, components: template.componentsOf(parameters) };
    const content =
      template.headerMedia === null || given.mediaObjectId === null
        ? sent
        : withHeaderFile(sent, template.headerMedia, given.mediaObjectId);
    const { components = [] } = content as { components?: Record<string, unknown>[] };
    return { ...given, content, body: template.render(components), templateCategory: template.category };
  }

  private async requireFiles(organizationId: string, given: MessageContent, lookUps: LookUps): Promise<MessageContent> {
    const references = ownFilesIn(given.type, given.content);
    if (references.length === 0) return given;
    const files = new Map<string, FileForSending>();
    await Promise.all(
      references.map(async ({ id, type }) => {
        const key = `${type}/${id}`;
        files.set(key, await lookUps.once(`file/${key}`, () => this.media.requireForSending(organizationId, id, type)));
      }),
    );
    const content = changeFiles(given.type, given.content, (named, type) => {
      const file = isUuid(named.id) ? files.get(`${type}/${named.id.toLowerCase()}`) : undefined;
      return file === undefined ? named : { ...defaultsOf(file, type), ...named, id: file.id };
    });
    return { ...given, content, mediaObjectId: given.mediaObjectId ?? references[0]?.id ?? null };
  }
}

/** The body names something that does not exist, which is a violation of the body. */
export function asViolation(error: unknown): never {
  throw error instanceof AppError && error.kind === 'not_found' ? error.withKind('unprocessable') : error;
}

/** Values of the file for fields that the caller left out. */
function defaultsOf(file: FileForSending, type: MediaType): Record<string, unknown> {
  if (type === 'document' && file.filename !== null) {
    return { filename: Array.from(file.filename).slice(0, MAX_FILENAME_LENGTH).join('') };
  }
  return type === 'audio' && file.voice ? { voice: true } : {};
}

/** Look-ups that several messages share, made once for all of them. */
export class LookUps {
  private readonly made = new Map<string, Promise<unknown>>();

  once<T>(key: string, lookUp: () => Promise<T>): Promise<T> {
    const known = this.made.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const made = lookUp();
    this.made.set(key, made);
    return made;
  }
}
