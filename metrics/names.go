// SPDX-License-Identifier: Apache-2.0

package metrics

// The names of the families, for those who write expressions with them. What
// each is, Families says.
const (
	Instances                                      = "petrinet_instances"
	InstancesCreatedTotal                          = "petrinet_instances_created_total"
	InstancesFinishedTotal                         = "petrinet_instances_finished_total"
	InstancesFailedTotal                           = "petrinet_instances_failed_total"
	SourceUp                                       = "petrinet_source_up"
	SourceLastSnapshotAgeSeconds                   = "petrinet_source_last_snapshot_age_seconds"
	SourceGapsTotal                                = "petrinet_source_gaps_total"
	RegionEpoch                                    = "petrinet_region_epoch"
	RegionCommitsTotal                             = "petrinet_region_commits_total"
	RegionSetbacksTotal                            = "petrinet_region_setbacks_total"
	RegionStandbys                                 = "petrinet_region_standbys"
	RegionLagCommits                               = "petrinet_region_lag_commits"
	RegionStopped                                  = "petrinet_region_stopped"
	QueueOldestAgeSeconds                          = "petrinet_queue_oldest_age_seconds"
	QueueUnservedAgeSeconds                        = "petrinet_queue_unserved_age_seconds"
	QueueWaiting                                   = "petrinet_queue_waiting"
	QueueReady                                     = "petrinet_queue_ready"
	QueueServedTotal                               = "petrinet_queue_served_total"
	QueueQuoteSwitchesTotal                        = "petrinet_queue_quote_switches_total"
	PlaceFinal                                     = "petrinet_place_final"
	PlaceTokens                                    = "petrinet_place_tokens"
	PlaceInstances                                 = "petrinet_place_instances"
	PlaceOldestTokenAgeSeconds                     = "petrinet_place_oldest_token_age_seconds"
	PlaceArrivalsTotal                             = "petrinet_place_arrivals_total"
	PlaceDeparturesTotal                           = "petrinet_place_departures_total"
	TransitionFiringsTotal                         = "petrinet_transition_firings_total"
	TransitionFailuresTotal                        = "petrinet_transition_failures_total"
	TransitionRetriesTotal                         = "petrinet_transition_retries_total"
	TransitionCancelsTotal                         = "petrinet_transition_cancels_total"
	TransitionTimeoutsTotal                        = "petrinet_transition_timeouts_total"
	TransitionLateAnswersTotal                     = "petrinet_transition_late_answers_total"
	TransitionEnabledInstances                     = "petrinet_transition_enabled_instances"
	TransitionEnabledAgeSeconds                    = "petrinet_transition_enabled_age_seconds"
	TransitionRunning                              = "petrinet_transition_running"
	TransitionRunningAgeSeconds                    = "petrinet_transition_running_age_seconds"
	TransitionLastFiringTimestampSeconds           = "petrinet_transition_last_firing_timestamp_seconds"
	PlaceTokensOlderThan                           = "petrinet_place_tokens_older_than"
	TransitionBlockedInstances                     = "petrinet_transition_blocked_instances"
	PlaceDwellSeconds                              = "petrinet_place_dwell_seconds"
	TransitionDurationSeconds                      = "petrinet_transition_duration_seconds"
	SourceRefused                                  = "petrinet_source_refused"
	AlarmActive                                    = "petrinet_alarm_active"
	PnagentAlarmsRaisedTotal                       = "pnagent_alarms_raised_total"
	PnagentAlarmsClearedTotal                      = "pnagent_alarms_cleared_total"
	PnagentAlarmsDroppedTotal                      = "pnagent_alarms_dropped_total"
	PnagentAlarmSaveFailuresTotal                  = "pnagent_alarm_save_failures_total"
	PnagentNotificationsSentTotal                  = "pnagent_notifications_sent_total"
	PnagentNotificationsFailedTotal                = "pnagent_notifications_failed_total"
	PnagentNotificationsSuppressedTotal            = "pnagent_notifications_suppressed_total"
	PnagentNotificationsSkippedTotal               = "pnagent_notifications_skipped_total"
	PnagentBuildInfo                               = "pnagent_build_info"
	PnagentMessagesTotal                           = "pnagent_messages_total"
	PnagentBytesTotal                              = "pnagent_bytes_total"
	PnagentMessagesLostTotal                       = "pnagent_messages_lost_total"
	PnagentMessagesRejectedTotal                   = "pnagent_messages_rejected_total"
	PnagentViewAgeSeconds                          = "pnagent_view_age_seconds"
	PnagentViewGeneration                          = "pnagent_view_generation"
	PnagentSources                                 = "pnagent_sources"
	PnagentSeriesDroppedTotal                      = "pnagent_series_dropped_total"
	PnagentScrapesRefusedTotal                     = "pnagent_scrapes_refused_total"
	PnagentScrapeSizeBytes                         = "pnagent_scrape_size_bytes"
	PnagentConfigLastReloadSuccessful              = "pnagent_config_last_reload_successful"
	PnagentConfigLastReloadSuccessTimestampSeconds = "pnagent_config_last_reload_success_timestamp_seconds"
)

// The names of what the SNMP faces count. Those who run the faces make these
// families; they are here so that whoever shows them has one place to look.
const (
	PnagentAgentXUp                      = "pnagent_agentx_up"
	PnagentAgentXSessionsTotal           = "pnagent_agentx_sessions_total"
	PnagentAgentXRequestsTotal           = "pnagent_agentx_requests_total"
	PnagentAgentXVariablesTotal          = "pnagent_agentx_variables_total"
	PnagentAgentXNotificationsTotal      = "pnagent_agentx_notifications_total"
	PnagentAgentXFaultsTotal             = "pnagent_agentx_faults_total"
	PnagentSNMPRequestsTotal             = "pnagent_snmp_requests_total"
	PnagentSNMPVariablesTotal            = "pnagent_snmp_variables_total"
	PnagentSNMPTooBigTotal               = "pnagent_snmp_too_big_total"
	PnagentSNMPDroppedTotal              = "pnagent_snmp_dropped_total"
	PnagentSNMPNotificationsSentTotal    = "pnagent_snmp_notifications_sent_total"
	PnagentSNMPInformsRetriedTotal       = "pnagent_snmp_informs_retried_total"
	PnagentSNMPInformsAcknowledgedTotal  = "pnagent_snmp_informs_acknowledged_total"
	PnagentSNMPTrapSinkUnreachableTotal  = "pnagent_snmp_trap_sink_unreachable_total"
	PnagentSNMPNotificationsQueued       = "pnagent_snmp_notifications_queued"
	PnagentSNMPInformAnswersIgnoredTotal = "pnagent_snmp_inform_answers_ignored_total"
	PnagentSNMPNotificationsLostTotal    = "pnagent_snmp_notifications_lost_total"
)

// The names of what sidecars that stand by for each other tell.
const (
	PnagentSidecarOnDuty                = "pnagent_sidecar_on_duty"
	PnagentSidecarPeers                 = "pnagent_sidecar_peers"
	PnagentSidecarTakeoversTotal        = "pnagent_sidecar_takeovers_total"
	PnagentSidecarMessagesTotal         = "pnagent_sidecar_messages_total"
	PnagentSidecarMessagesRejectedTotal = "pnagent_sidecar_messages_rejected_total"
)

// The names of what every process of pnagent tells of its connection to NATS.
const (
	PnagentNATSConnected        = "pnagent_nats_connected"
	PnagentNATSDisconnectsTotal = "pnagent_nats_disconnects_total"
)

// The names of what the live page and its last hour tell.
const (
	PnagentWebViewers                     = "pnagent_web_viewers"
	PnagentWebEventsTotal                 = "pnagent_web_events_total"
	PnagentWebBytesTotal                  = "pnagent_web_bytes_total"
	PnagentWebViewersDroppedTotal         = "pnagent_web_viewers_dropped_total"
	PnagentWebRequestsRefusedTotal        = "pnagent_web_requests_refused_total"
	PnagentHistoryBytes                   = "pnagent_history_bytes"
	PnagentHistoryFrames                  = "pnagent_history_frames"
	PnagentHistoryLeftOutTotal            = "pnagent_history_left_out_total"
	PnagentHistorySightings               = "pnagent_history_sightings"
	PnagentHistorySightingsForgottenTotal = "pnagent_history_sightings_forgotten_total"
)
