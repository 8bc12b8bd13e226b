import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import type { ErasedPerson, NamedPerson } from './erasure.types.js';
import { ErasuresRepository } from './erasures.repository.js';

/** Erased people: later reports of WhatsApp about them must not store their names. */
@Injectable()
export class ErasedNames {
  constructor(
    private readonly erasures: ErasuresRepository,
    private readonly database: Database,
  ) {}

  /** One answer per person, in the same order; null: they were not erased. One statement, none for an empty list. */
  async find(people: readonly NamedPerson[], statements: Statements = this.database): Promise<(ErasedPerson | null)[]> {
    return people.length === 0 ? [] : this.erasures.findErased(people, statements);
  }
}
