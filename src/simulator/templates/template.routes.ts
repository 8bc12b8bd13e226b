import { GraphError } from '../graph-error.js';
import { type Answer, jsonAnswer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { unknownObject } from '../http/graph-path.js';
import type { SimulatorContext } from '../simulator-context.js';
import { deleteTemplates } from './template-deletion.js';
import { readChange, readDraft } from './template-draft.js';
import { templateError } from './template-error.js';
import { templateFields, templateJson } from './template-json.js';
import type { Template } from './template.types.js';

/** What can be edited at all. */
const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED'];

/** Registers creating, reading, editing and deleting of templates; the list is registered by itself. */
export function registerTemplateRoutes(context: SimulatorContext): void {
  const { router, templates } = context;
  router.resolveNodes((id) => (templates.get(id) === undefined ? null : 'template'));
  router.graph('POST', 'waba', 'message_templates', (call) => create(context, call));
  router.graph('DELETE', 'waba', 'message_templates', (call) => deleteTemplates(context, call));
  router.graph('GET', 'template', '', (call) => {
    const fields = templateFields(call.query.get('fields'));
    return jsonAnswer(templateJson(templateOf(context, call), fields));
  });
  router.graph('POST', 'template', '', (call) => edit(context, call));
}

function templateOf(context: SimulatorContext, call: Call): Template {
  const template = context.templates.get(call.nodeId);
  if (template === undefined) throw unknownObject('GET', call.nodeId);
  return template;
}

function create(context: SimulatorContext, call: Call): Answer {
  const { templates, templateReviewer, templateLimits } = context;
  const draft = readDraft(call.jsonObject());
  const { name, language } = draft;
  const wabaId = call.nodeId;
  const now = Date.now();
  const existing = templates.find(wabaId, name, language);
  if (existing !== undefined && existing.status !== 'PENDING_DELETION') {
    throw templateError(
      2388024,
      'Content in This Language Already Exists',
      `There is already ${language} content for this template. You can create a new template and try again.`,
    );
  }
  templateLimits.checkCreation(wabaId, name, language, templates.ofAccount(wabaId).length, now);
  const template = templateReviewer.submitted(
    {
      id: context.newTemplateId(),
      wabaId,
      name,
      language,
      category: recategorised(draft.name, draft.category, draft.allowCategoryChange),
      status: 'PENDING',
      parameterFormat: draft.parameterFormat,
      components: draft.components,
      rejectedReason: 'NONE',
      qualityScore: 'UNKNOWN',
      createdAt: now,
      updatedAt: now,
      ...(draft.messageSendTtlSeconds === undefined ? {} : { messageSendTtlSeconds: draft.messageSendTtlSeconds }),
    },
    now,
  );
  templateLimits.noteCreation(wabaId, now);
  templates.put(template);
  templateReviewer.watch(template);
  const { id, status, category } = template;
  return jsonAnswer({ id, status, category });
}

/** A UTILITY template that says `promo_me` is a marketing one to the platform, unless the caller forbade the change. */
function recategorised(name: string, category: Template['category'], allowed: boolean): Template['category'] {
  return category === 'UTILITY' && allowed && name.includes('promo_me') ? 'MARKETING' : category;
}

function edit(context: SimulatorContext, call: Call): Answer {
  const { templates, templateReviewer, templateLimits } = context;
  const template = templateOf(context, call);
  const now = Date.now();
  if (!EDITABLE.includes(template.status)) {
    throw templateError(
      2388039,
      "Message Template Status Can't Be Changed",
      `A message template that is ${template.status} can't be edited. It must be approved, rejected or paused.`,
    );
  }
  const change = readChange(call.jsonObject(), template);
  const isApproved = template.status === 'APPROVED';
  if (isApproved && change.category !== undefined && change.category !== template.category) {
    throw new GraphError(100, { message: "(#100) The category of an approved message template can't be edited." });
  }
  if (isApproved) templateLimits.checkEdit(template, now);
  const edited = templateReviewer.submitted(
    {
      ...template,
      ...change,
      updatedAt: now,
      ...(isApproved ? { edits: templateLimits.editsWith(template, now) } : {}),
    },
    now,
  );
  templates.put(edited);
  templateReviewer.watch(edited);
  return SUCCESS;
}
