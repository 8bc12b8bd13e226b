import { Module } from '@nestjs/common';
import { McpController } from './mcp.controller.js';
import { McpService } from './mcp.service.js';

/** The API as tools for agents: the Model Context Protocol. */
@Module({ controllers: [McpController], providers: [McpService] })
export class McpModule {}
