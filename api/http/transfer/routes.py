"""Routes of imports and exports."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.transfer import exports, import_jobs, imports

router = APIRouter(routes=[route for part in (imports, import_jobs, exports) for route in part.router.routes])
