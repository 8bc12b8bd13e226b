import { EXAMPLE_PERSON_ID } from '../../../common/example-ids.js';
import { UuidParam } from '../../../infrastructure/http/uuid-param.decorator.js';
import { peopleErrors } from '../people.errors.js';

/** The id of a person in the path. */
export const PersonId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: peopleErrors.PERSON_NOT_FOUND,
    description: 'Id of the person, from the list.',
    example: EXAMPLE_PERSON_ID,
  });
