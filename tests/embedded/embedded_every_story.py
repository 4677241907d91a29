"""Every story, by suite: importing the modules registers theirs."""

from __future__ import annotations

import embedded_stories_coordinated
import embedded_stories_coordinator
import embedded_stories_cursors
import embedded_stories_directory
import embedded_stories_directory_clients
import embedded_stories_keeping
import embedded_stories_management
import embedded_stories_objects
import embedded_stories_objects_beside
import embedded_stories_objects_events
import embedded_stories_objects_identity
import embedded_stories_objects_managed
import embedded_stories_objects_managing
import embedded_stories_objects_more
import embedded_stories_objects_queries
import embedded_stories_opens
import embedded_stories_outgoing
import embedded_stories_races
import embedded_stories_reads
import embedded_stories_refusals
import embedded_stories_reports
import embedded_stories_restart
import embedded_stories_security
import embedded_stories_signed
import embedded_stories_values
from embedded_stories import STORIES, Story

MODULES = (
    embedded_stories_coordinated,
    embedded_stories_coordinator,
    embedded_stories_cursors,
    embedded_stories_directory,
    embedded_stories_directory_clients,
    embedded_stories_keeping,
    embedded_stories_management,
    embedded_stories_objects,
    embedded_stories_objects_beside,
    embedded_stories_objects_events,
    embedded_stories_objects_identity,
    embedded_stories_objects_managed,
    embedded_stories_objects_managing,
    embedded_stories_objects_more,
    embedded_stories_objects_queries,
    embedded_stories_opens,
    embedded_stories_outgoing,
    embedded_stories_races,
    embedded_stories_reads,
    embedded_stories_refusals,
    embedded_stories_reports,
    embedded_stories_restart,
    embedded_stories_security,
    embedded_stories_signed,
    embedded_stories_values,
)
__all__ = ["MODULES", "STORIES", "Story"]
