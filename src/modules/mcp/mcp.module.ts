import { Module } from '@nestjs/common';
import { McpController } from './mcp.controller.js';
import { McpService } from './mcp.service.js';
import { OwnApi } from './own-api.js';

/** The API as tools of agents: the Model Context Protocol. */
@Module({ controllers: [McpController], providers: [McpService, OwnApi] })
export class McpModule {}
