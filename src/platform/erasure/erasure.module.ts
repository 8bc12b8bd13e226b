import { Global, Module } from '@nestjs/common';
import { Erasure } from './erasure.js';

/** Erasure of what is personal, for every room that keeps some. */
@Global()
@Module({ providers: [Erasure], exports: [Erasure] })
export class ErasureModule {}
