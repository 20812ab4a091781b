// Copies the licence of uPlot to where reports take it from: the script of a report has uPlot in it.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..');
copyFileSync(join(web, 'node_modules/uplot/LICENSE'), join(web, '../python/longhaul/report/charts/LICENSE'));
