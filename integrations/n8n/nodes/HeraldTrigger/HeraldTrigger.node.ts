import {
  NodeApiError,
  NodeConnectionTypes,
  type IDataObject,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IPollFunctions,
  type JsonObject,
} from 'n8n-workflow';
import { EVENT_TYPES } from '../Herald/actions';
import { heraldRequest } from '../Herald/shared/transport';

const PAGE = 250;
/** Of one poll: what more is there comes with the next one. */
const MOST_PAGES = 4;

export class HeraldTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Herald Trigger',
    name: 'heraldTrigger',
    icon: { light: 'file:../../icons/herald.svg', dark: 'file:../../icons/herald.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["types"].join(", ")}}',
    description: 'Starts the workflow when something happens in Herald',
    defaults: { name: 'Herald Trigger' },
    polling: true,
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'heraldApi', required: true }],
    properties: [
      {
        displayName:
          'Reads events without a webhook: it can stand beside the webhook of the workspace and any number of other readers. After an error an event may come again, under the same ID.',
        name: 'notice',
        type: 'notice',
        default: '',
      },
      {
        displayName: 'Events',
        name: 'types',
        type: 'multiOptions',
        options: EVENT_TYPES,
        default: ['message.received'],
        required: true,
      },
    ],
  };

  /** What came since the last poll, oldest first. The first one only marks the place; a manual one shows the latest event. */
  async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
    const types = (this.getNodeParameter('types') as string[]).join(',');
    const state = this.getWorkflowStaticData('node');
    try {
      if (this.getMode() === 'manual') return await sampleOf(this, types);
      let after = state.cursor as string | undefined;
      if (after === undefined) {
        state.cursor = (await pageOf(this, { after: 'now', types })).next;
        return null;
      }
      const events: IDataObject[] = [];
      for (let count = 0; count < MOST_PAGES; count++) {
        const page: IDataObject = await pageBehind(this, after, types);
        events.push(...(page.data as IDataObject[]));
        const rests = page.done === true || page.next === after;
        after = page.next as string;
        if (rests) break;
      }
      state.cursor = after;
      return events.length === 0 ? null : [this.helpers.returnJsonArray(events)];
    } catch (error) {
      throw new NodeApiError(this.getNode(), error as JsonObject);
    }
  }
}

function pageOf(context: IPollFunctions, qs: IDataObject): Promise<IDataObject> {
  return heraldRequest(context, { method: 'GET', path: '/api/v1/events', qs: { limit: PAGE, ...qs } });
}

/**
 * A cursor is good for as long as events are kept, 30 days unless the installation says otherwise. Behind an older one the trigger
 * goes on with the oldest event that is kept.
 */
async function pageBehind(context: IPollFunctions, after: string | undefined, types: string): Promise<IDataObject> {
  try {
    return await pageOf(context, { after, types });
  } catch (error) {
    const { httpCode, response } = error as { httpCode?: unknown; response?: { status?: unknown } };
    if (String(httpCode ?? response?.status) !== '410') throw new NodeApiError(context.getNode(), error as JsonObject);
    return await pageOf(context, { types });
  }
}

/** The oldest events that are kept begin a list; the last of its first page is a sample. */
async function sampleOf(context: IPollFunctions, types: string): Promise<INodeExecutionData[][] | null> {
  const { data } = await pageOf(context, { types });
  const last = (data as IDataObject[]).slice(-1);
  return last.length === 0 ? null : [context.helpers.returnJsonArray(last)];
}
