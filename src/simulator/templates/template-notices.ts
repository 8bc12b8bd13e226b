import type { ReviewDetails } from './template-reviewer.js';
import type { Template, TemplateCategory, QualityScore } from './template.types.js';

type Notify = (wabaId: string, field: string, value: object, timeSeconds?: number) => void;

/** The notifications about templates, with the platform's fields. Ids are numbers there, and text in the answers. */
export class TemplateNotices {
  private count = 0;

  constructor(private readonly notify: Notify) {}

  status(template: Template, event: string, details: ReviewDetails): void {
    const { reason, rejectionInfo, disableInfo, otherInfo, time } = details;
    const value = {
      event,
      ...this.identity(template),
      reason,
      message_template_category: template.category,
      ...(rejectionInfo === undefined ? {} : { rejection_info: rejectionInfo }),
      ...(disableInfo === undefined ? {} : { disable_info: disableInfo }),
      ...(otherInfo === undefined ? {} : { other_info: otherInfo }),
    };
    this.notify(template.wabaId, 'message_template_status_update', value, time);
  }

  quality(template: Template, previous: QualityScore, time?: number): void {
    const scores = { previous_quality_score: previous, new_quality_score: template.qualityScore };
    this.notify(template.wabaId, 'message_template_quality_update', { ...scores, ...this.identity(template) }, time);
  }

  /** @param announced the category it is going to have in 24 hours; undefined where it has already changed */
  category(template: Template, previous: TemplateCategory, announced?: TemplateCategory, time?: number): void {
    const categories =
      announced === undefined
        ? { previous_category: previous, new_category: template.category }
        : { new_category: template.category, correct_category: announced };
    this.notify(template.wabaId, 'template_category_update', { ...this.identity(template), ...categories }, time);
  }

  components(template: Template, time?: number): void {
    const find = (type: string) => template.components.find((component) => component.type === type);
    const header = find('HEADER')?.text;
    const footer = find('FOOTER')?.text;
    const buttons = find('BUTTONS')?.buttons;
    const value = {
      ...this.identity(template),
      ...(header === undefined ? {} : { message_template_title: header }),
      message_template_element: find('BODY')?.text ?? '',
      ...(footer === undefined ? {} : { message_template_footer: footer }),
      ...(buttons === undefined
        ? {}
        : {
            message_template_buttons: buttons.map((button) => ({
              message_template_button_type: button.type,
              message_template_button_text: button.text,
              message_template_button_url: button.url,
              message_template_button_phone_number: button.phone_number,
            })),
          }),
    };
    this.notify(template.wabaId, 'message_template_components_update', value, time);
  }

  /** Every third notification spells the language with a hyphen, as the platform sometimes does. */
  private identity({ id, name, language }: Template): object {
    const hyphen = ++this.count % 3 === 0;
    const number = Number(id);
    return {
      message_template_id: Number.isSafeInteger(number) ? number : id,
      message_template_name: name,
      message_template_language: hyphen ? language.replace('_', '-') : language,
    };
  }
}
