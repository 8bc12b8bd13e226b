import { Global, Module } from '@nestjs/common';
import { SecretBox } from './secret-box.js';
import { SecretRotation } from './secret-rotation.js';

/** Encryption of stored secrets for every module. */
@Global()
@Module({ providers: [SecretBox, SecretRotation], exports: [SecretBox, SecretRotation] })
export class SecretsModule {}
