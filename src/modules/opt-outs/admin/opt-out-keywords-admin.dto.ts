import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsString, Length } from 'class-validator';
import { type KeywordsByLanguage, MAX_KEYWORD_LENGTH, MAX_KEYWORDS } from '../opt-out-keywords.js';

const Words = (): PropertyDecorator => (target, key) => {
  const rules = [
    IsArray(),
    ArrayMaxSize(MAX_KEYWORDS),
    IsString({ each: true }),
    Length(1, MAX_KEYWORD_LENGTH, { each: true }),
  ];
  for (const rule of rules) rule(target, key);
};
const words = {
  type: 'array',
  maxItems: MAX_KEYWORDS,
  items: { type: 'string', minLength: 1, maxLength: MAX_KEYWORD_LENGTH },
} as const;

/** Body of PUT /workspaces/{workspace_id}/opt-out-keywords/{language}. */
export class SetKeywordsRequest {
  /** A customer who writes only one of these wants no messages. */
  @ApiProperty({ ...words, example: ['stopp', 'keine werbung'] })
  @Words()
  out!: string[];

  /** A customer who writes only one of these wants them again. */
  @ApiProperty({ ...words, example: ['start'] })
  @Words()
  in!: string[];
}

/** The words of a language. */
export class KeywordsResponse {
  @ApiProperty({ example: 'de' })
  language!: string;

  @ApiProperty({ type: 'array', items: { type: 'string' }, example: ['stopp', 'keine werbung'] })
  out!: string[];

  @ApiProperty({ type: 'array', items: { type: 'string' }, example: ['start'] })
  in!: string[];
}

export class KeywordsListResponse {
  data!: KeywordsResponse[];

  static of(keywords: KeywordsByLanguage): KeywordsListResponse {
    const languages = Object.entries(keywords).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return { data: languages.map(([language, { out, in: into }]) => ({ language, out, in: into })) };
  }
}
