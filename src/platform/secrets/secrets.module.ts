import { Global, Module } from '@nestjs/common';
import { SecretBox } from './secret-box.js';

/** Encryption of stored secrets for every room. */
@Global()
@Module({ providers: [SecretBox], exports: [SecretBox] })
export class SecretsModule {}
